#!/usr/bin/env python3
"""Writes legacy DynamoDB events, one item a line, twelve a stream. The same arguments give the same bytes.

usage: dynamodb_events.py DOCUMENTS FILE
"""

import sys

from generate import EVENTS_PER_STREAM, TYPES, payloads


def lines(documents):
    bodies = payloads()
    for position in range(documents):
        stream, version = divmod(position, EVENTS_PER_STREAM)
        kind, events = TYPES[stream % len(TYPES)]
        yield (
            f'{{"Item":{{"aggregateId":{{"S":"A-{stream:09}"}},"aggregateType":{{"S":"{kind}"}},'
            f'"eventData":{{"S":"{bodies[position % 16]}"}},'
            f'"eventId":{{"S":"8b0f0e3c-6b53-4a0e-9a43-{position:012x}"}},"eventType":{{"S":"{events[version % 4]}"}},'
            f'"metadata":{{"NULL":true}},"pk":{{"S":"{kind}:A-{stream:09}"}},"sk":{{"N":"{version}"}},'
            f'"timestamp":{{"S":"2026-01-02T03:04:05.6780000+00:00"}},"version":{{"N":"{version}"}}}}}}\n'
        )


if __name__ == "__main__":
    with open(sys.argv[2], "w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines(int(sys.argv[1])))
