//! Pieces of the help texts that several commands share.

/// The kinds of store address, for the help of the whole tool.
pub(super) const STORES: &str = "\
Stores (the collection is named by --collection, --table or --container):
  mongodb://HOST/DATABASE           a connection string with the database in
                                    its path; MONGODB_USERNAME,
                                    MONGODB_PASSWORD
  dynamodb://REGION                 the usual AWS settings;
                                    ?endpoint=URL&profile=NAME
  firestore://PROJECT[/DATABASE]    Google application default credentials
  cosmosdb://ACCOUNT-HOST/DATABASE  COSMOS_KEY, COSMOS_CONNECTION_STRING or
                                    Entra ID
  embedded:FILE?as=mongodb          one local file that keeps the rules of the
                                    store it stands for (mongodb, dynamodb,
                                    firestore, cosmosdb)
";

/// Every exit code, for the help of the whole tool.
pub(super) const EXIT_CODES: &str = "\
Exit codes:
  0    all of it done, nothing found
  1    a finding: mismatch, conflict
  2    usage or configuration
  3    partial: documents were set aside or kept, the rest is done
  4    a store could not be reached, refused the credentials, kept throttling,
       or lost its snapshot
  5    refused before any write; also a dry run that would be refused
  70   a bug in the tool
  74   a disk or file: full, unreadable, damaged or unfinished archive
  130  interrupted; run again to resume (143 after SIGTERM, 141 if the reader
       of the output is gone)
  Where several apply: 70, 130 or 143, 141, 5, 4, 74, 2, 1, 3, 0.
";

/// Where to find the rest.
pub(super) const MORE: &str = "`rekey --help` lists the store addresses and all exit codes.\n";
