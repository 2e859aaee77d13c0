#!/usr/bin/env python3
"""Writes legacy MongoDB events as canonical Extended JSON, one a line. The same arguments give the same bytes.

usage: generate.py DOCUMENTS FILE [stream|sequence]

Twelve events make a stream, so that version 10 comes after 9. `stream` (the default) writes the order of an
archive: by stream, then by version. `sequence` writes the order in which a store takes events in, all streams
interleaved, as mongoexport gives them.
"""

import base64
import sys

EVENTS_PER_STREAM = 12
BLOCK = 4096
TYPES = [
    ("Order", ["OrderPlaced", "OrderLineAdded", "OrderPaid", "OrderShipped"]),
    ("Invoice", ["InvoiceDrawn", "InvoiceSent", "InvoiceReminded", "InvoiceSettled"]),
    ("Customer", ["CustomerRegistered", "AddressChanged", "EmailConfirmed", "LimitRaised"]),
]
# .NET ticks at 1970-01-01.
EPOCH_TICKS = 621_355_968_000_000_000
BEGIN = 1_767_319_445_678


def payloads():
    """A few bodies of different lengths, as base64."""
    bodies = []
    for number in range(16):
        note = "Ünïcode and \\\"quotes\\\" " * (number % 4)
        lines = ",".join(
            f'{{"sku":"SKU-{number:02}-{line:03}","quantity":{line + 1},"price":{(number + 1) * (line + 7)}.{line:02}}}'
            for line in range(1 + number % 5)
        )
        bodies.append(base64.b64encode(f'{{"lines":[{lines}],"note":"{note}"}}'.encode()).decode())
    return bodies


def lines(documents, order):
    """All lines; the ids of the streams are in the order of their bytes."""
    bodies = payloads()
    metadata = base64.b64encode(b'{"correlationId":"c-1","userId":"u-17","source":"bench"}').decode()
    streams = -(-documents // EVENTS_PER_STREAM)
    for place in range(streams * EVENTS_PER_STREAM):
        if order == "stream":
            stream, version = divmod(place, EVENTS_PER_STREAM)
        else:
            version, stream = divmod(place, streams)
        # The last stream may be shorter.
        position = stream * EVENTS_PER_STREAM + version
        if position >= documents:
            continue
        kind, events = TYPES[stream % len(TYPES)]
        sequence = version * streams + stream
        instant = BEGIN + sequence
        yield (
            f'{{"_id":{{"$oid":"65a0f1c2{position:016x}"}},'
            f'"eventId":"8b0f0e3c-6b53-4a0e-9a43-{position:012x}",'
            f'"streamId":"A-{stream:09}","aggregateType":"{kind}","eventType":"{events[version % 4]}",'
            f'"payload":{{"$binary":{{"base64":"{bodies[position % 16]}","subType":"00"}}}},'
            f'"metadata":{{"$binary":{{"base64":"{metadata}","subType":"00"}}}},'
            f'"version":{{"$numberLong":"{version}"}},'
            f'"occurredAt":{{"DateTime":{{"$date":{{"$numberLong":"{instant}"}}}},'
            f'"Ticks":{{"$numberLong":"{EPOCH_TICKS + instant * 10_000}"}},"Offset":{{"$numberInt":"0"}}}},'
            f'"globalSequence":{{"$numberLong":"{sequence + 1}"}}}}\n'
        )


def main():
    documents, path = int(sys.argv[1]), sys.argv[2]
    order = sys.argv[3] if len(sys.argv) > 3 else "stream"
    block = []
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for line in lines(documents, order):
            block.append(line)
            if len(block) == BLOCK:
                file.write("".join(block))
                block.clear()
        file.write("".join(block))


if __name__ == "__main__":
    main()
