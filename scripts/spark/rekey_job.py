"""Rewrites an archive on an Apache Spark cluster, with `rekey rekey` as a filter over shards of whole streams.

    spark-submit rekey_job.py --rekey ./rekey --input s3a://exports/data/ --output s3a://exports/rekeyed --shards 512 \
        --layout dynamodb-events --tenant-map tenants.csv -- --escaping escaped

Each line goes to the shard of its stream (`rekey shard`), and each shard through one `rekey rekey` with all its checks.
The output is one folder, an archive for every other command: for each shard its lines, its manifest, its key map and,
where documents were set aside, their list. docs/spark.md says how it is used and what it promises.

Exit codes: 0 done, 2 usage, 3 streams were set aside, 4 the job failed, 5 refused: no archive was left.
"""

import argparse
import os
import sys

from pyspark.sql import SparkSession

import rekey_filter
import rekey_folder

DONE, USAGE, PARTIAL, FAILED, REFUSED = 0, 2, 3, 4, 5


def arguments(words):
    """The job's own arguments, and those that every `rekey rekey` gets as they are."""
    own, passed = (words, []) if "--" not in words else (words[: words.index("--")], words[words.index("--") + 1 :])
    summary, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rekey", required=True, help="the binary of rekey, built for the workers; shipped to them")
    parser.add_argument("--input", required=True, nargs="+", help="files or folders of legacy lines, plain or .gz")
    parser.add_argument("--output", required=True, help="the folder to make; it must not exist")
    parser.add_argument("--shards", required=True, type=int, help="how many shards: a few hundred MB of lines each")
    parser.add_argument("--layout", required=True, help="as for rekey rekey; a TOML file is shipped")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="as for rekey rekey")
    parser.add_argument("--tenant-map", metavar="FILE.csv", help="as for rekey rekey; shipped to the workers")
    parser.add_argument("--known-tenants", metavar="FILE", help="as for rekey rekey; shipped to the workers")
    parser.add_argument("--expect-documents", type=int, metavar="N", help="how many documents the input must hold")
    parser.add_argument("--on-refused", choices=["stop", "set-aside"], default="stop", help="as for rekey rekey")
    asked = parser.parse_args(own)
    if asked.shards < 1:
        parser.error("--shards must be 1 or more")
    return asked, passed


def shipped(context, path):
    """Sends a file to every worker; the word that stands for it in a command there."""
    context.addFile(os.path.abspath(path))
    return rekey_filter.Shipped(os.path.basename(path))


def filter_of(context, asked, passed):
    """The commands that the workers run."""
    is_file = asked.layout.endswith(".toml")
    layout = ["--layout", shipped(context, asked.layout) if is_file else asked.layout]
    for pair in asked.set:
        layout += ["--set", pair]
    rule = []
    for flag, path in (("--tenant-map", asked.tenant_map), ("--known-tenants", asked.known_tenants)):
        if path:
            rule += [flag, shipped(context, path)]
    return rekey_filter.Filter(
        binary=shipped(context, asked.rekey),
        layout=layout,
        rewrite=[*rule, "--on-refused", asked.on_refused, *passed],
        shards=asked.shards,
    )


def lines_of(spark, paths):
    """The lines as bytes: as text, Spark would put another character in the place of what is no UTF-8."""
    from pyspark.sql.functions import col

    read = spark.read.format("text").option("lineSep", "\n").load(paths)
    return read.select(col("value").cast("binary")).rdd.map(lambda row: bytes(row[0]))


def prefix_of_another(tenants, separator):
    """Two tenants of which one's key prefix begins the other's, if there are any."""
    known = sorted(tenants)
    for shorter in known:
        for longer in known:
            if longer.startswith(shorter + separator):
                return shorter, longer
    return None


def judge(asked, passed, results):
    """What the shards' results come to: an exit code, and why, in a sentence for each reason."""
    read = sum(result["documents"] for result in results)
    refused, reasons = sum(result["refused"] for result in results), []
    code = DONE
    if asked.expect_documents is not None and read != asked.expect_documents:
        reasons.append(f"The input holds {read:,} documents, and {asked.expect_documents:,} were expected.")
        code = REFUSED
    unplaced = sum(result["documents"] for result in results if result["shard"] == rekey_filter.NO_SHARD)
    if unplaced:
        reasons.append(f"Lines that are no documents of the layout, so that nobody can tell their streams: {unplaced:,}.")
        code = REFUSED
    elif refused and asked.on_refused == "stop":
        reasons.append(f"{refused:,} documents are refused.")
        code = REFUSED
    elif refused:
        code = max(code, PARTIAL)
    tenants = {tenant for result in results for tenant in result["tenants"]}
    separator = "__" if any(result["layout"] == "cosmosdb-hierarchical" for result in results) else ":"
    raw = any(result["escaping"] == "raw" for result in results)
    if (raw or separator == "__") and "--allow-prefix-tenants" not in passed:
        # Each rekey rekey looks at the tenants of its own shard alone.
        if overlap := prefix_of_another(tenants, separator):
            reasons.append("The key prefix of the tenant {!r} begins the one of {!r}.".format(*overlap))
            code = REFUSED
    return code, reasons


def run(spark, asked, passed):
    context = spark.sparkContext
    folder = rekey_folder.Folder(context, asked.output)
    if folder.exists():
        print(f"{asked.output} exists; nothing was done. Name a folder that is not there yet.", file=sys.stderr)
        return USAGE
    filters = filter_of(context, asked, passed)
    numbered = lines_of(spark, asked.input).mapPartitions(filters.number)
    shards = numbered.partitionBy(asked.shards + 1, lambda shard: shard)
    # On the disks of the workers, so that the lines of a shard are rewritten once; a lost one is rewritten again.
    rewritten = shards.mapPartitionsWithIndex(filters.rewrite).persist(rekey_folder.ON_DISK)
    results = rewritten.filter(rekey_filter.is_result).map(rekey_filter.result).collect()
    code, reasons = judge(asked, passed, results)
    folder.save(rewritten, with_archive=code != REFUSED)
    for reason in reasons:
        print(reason, file=sys.stderr)
    moved = sum(result["rekeyed"] + result["already_rekeyed"] for result in results)
    set_aside = sum(result["set_aside"] for result in results)
    if code == REFUSED:
        print(f"Refused: no archive was left. What was refused is listed in {folder.refused}.", file=sys.stderr)
    else:
        print(f"{moved:,} documents rekeyed in {asked.shards:,} shards, {set_aside:,} set aside: {asked.output}")
    return code


def main():
    asked, passed = arguments(sys.argv[1:])
    spark = SparkSession.builder.appName("rekey").getOrCreate()
    try:
        for module in (rekey_filter, rekey_folder):
            spark.sparkContext.addPyFile(module.__file__)
        return run(spark, asked, passed)
    except Exception as error:  # Whatever it is, Spark has tried again before.
        print(f"The job failed; the output is not finished. {error}", file=sys.stderr)
        return FAILED
    finally:
        spark.stop()


if __name__ == "__main__":
    sys.exit(main())
