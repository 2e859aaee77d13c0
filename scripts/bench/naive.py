#!/usr/bin/env python3
"""Moves MongoDB events to one tenant's keys the straightforward way: make the indexes, read all, change the key, insert.

usage: naive.py ADDRESS SOURCE TARGET TENANT

No document is checked, nothing is proven afterwards, and when it is stopped nobody knows how far it came. Needs pymongo.
"""

import sys

from pymongo import MongoClient

BATCH = 1_000
# Those of the framework.
INDEXES = [
    (["streamId", "aggregateType", "version"], True),
    (["globalSequence"], False),
    (["eventId"], False),
]


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    address, source, target, tenant = sys.argv[1:]
    with MongoClient(address) as client:
        database = client.get_default_database()
        for keys, unique in INDEXES:
            database[target].create_index(keys, unique=unique)
        batch = []
        for event in database[source].find():
            event["streamId"] = f"t:{tenant}:{event['streamId']}"
            batch.append(event)
            if len(batch) == BATCH:
                database[target].insert_many(batch)
                batch = []
        if batch:
            database[target].insert_many(batch)


if __name__ == "__main__":
    main()
