#!/usr/bin/env python3
"""Writes legacy Firestore events, one document a line, twelve a stream. The same arguments give the same bytes.

usage: firestore_events.py DOCUMENTS FILE
"""

import sys

from generate import EVENTS_PER_STREAM, TYPES, payloads

NAME = "projects/bench/databases/(default)/documents/events"


def lines(documents):
    bodies = payloads()
    for position in range(documents):
        stream, version = divmod(position, EVENTS_PER_STREAM)
        kind, events = TYPES[stream % len(TYPES)]
        key = f"{kind}:A-{stream:09}"
        text = {
            "aggregateId": f"A-{stream:09}",
            "aggregateType": kind,
            "eventData": bodies[position % 16],
            "eventId": f"8b0f0e3c-6b53-4a0e-9a43-{position:012x}",
            "eventType": events[version % 4],
            "streamId": key,
            "timestamp": "2026-01-02T03:04:05.6780000+00:00",
        }
        fields = "".join(f'"{name}":{{"stringValue":"{value}"}},' for name, value in text.items())
        yield f'{{"name":"{NAME}/{key}:{version}","fields":{{{fields}"version":{{"integerValue":"{version}"}}}}}}\n'


if __name__ == "__main__":
    with open(sys.argv[2], "w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines(int(sys.argv[1])))
