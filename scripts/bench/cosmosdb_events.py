#!/usr/bin/env python3
"""Writes legacy Cosmos DB events, one item a line, twelve a stream. The same arguments give the same bytes.

usage: cosmosdb_events.py DOCUMENTS FILE
"""

import sys

from generate import EVENTS_PER_STREAM, TYPES, payloads


def lines(documents):
    bodies = payloads()
    for position in range(documents):
        stream, version = divmod(position, EVENTS_PER_STREAM)
        kind, events = TYPES[stream % len(TYPES)]
        key = f"{kind}:A-{stream:09}"
        yield (
            f'{{"id":"{key}:{version}","streamId":"{key}",'
            f'"eventId":"8b0f0e3c-6b53-4a0e-9a43-{position:012x}","aggregateId":"A-{stream:09}",'
            f'"aggregateType":"{kind}","eventType":"{events[version % 4]}","version":{version},'
            f'"timestamp":"2026-01-02T03:04:05.678+00:00","eventData":"{bodies[position % 16]}","metadata":null}}\n'
        )


if __name__ == "__main__":
    with open(sys.argv[2], "w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines(int(sys.argv[1])))
