"""Sends one command to a MongoDB server on the loopback interface and prints its answer as JSON.

Only what setting a server up takes: no driver, no authentication.

usage: mongodb_command.py PORT COMMAND     the command is JSON and goes to the database admin; exit 1 if it fails
"""

import json
import socket
import struct
import sys

OP_MSG = 2013


def encode(document):
    """A document as BSON."""
    body = b"".join(element(name, value) for name, value in document.items())
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def element(name, value):
    key = name.encode() + b"\0"
    if isinstance(value, bool):
        return b"\x08" + key + bytes([value])
    if isinstance(value, int):
        return b"\x10" + key + struct.pack("<i", value)
    if isinstance(value, str):
        text = value.encode() + b"\0"
        return b"\x02" + key + struct.pack("<i", len(text)) + text
    if isinstance(value, dict):
        return b"\x03" + key + encode(value)
    return b"\x04" + key + encode({str(index): item for index, item in enumerate(value)})


def decode(data):
    """The document that a BSON document stands for; values of types without a JSON form become null."""
    document, at = {}, 4
    while data[at] != 0:
        kind, end = data[at], data.index(b"\0", at + 1)
        name, at = data[at + 1 : end].decode(), end + 1
        value, length = decode_value(kind, data[at:])
        document[name], at = value, at + length
    return document


def decode_value(kind, data):
    length = struct.unpack_from("<i", data)[0] if len(data) >= 4 else 0
    if kind == 0x01:
        return struct.unpack_from("<d", data)[0], 8
    if kind in (0x02, 0x0D, 0x0E):
        return data[4 : 3 + length].decode(errors="replace"), 4 + length
    if kind in (0x03, 0x04):
        inner = decode(data[:length])
        return (list(inner.values()) if kind == 0x04 else inner), length
    if kind == 0x08:
        return data[0] == 1, 1
    if kind == 0x10:
        return length, 4
    if kind == 0x12:
        return struct.unpack_from("<q", data)[0], 8
    sizes = {0x05: 5 + length, 0x06: 0, 0x07: 12, 0x09: 8, 0x0A: 0, 0x11: 8, 0x13: 16, 0x7F: 0, 0xFF: 0}
    return None, sizes[kind]


def send(port, command):
    body = struct.pack("<i", 0) + b"\0" + encode({**command, "$db": "admin"})
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(struct.pack("<iiii", 16 + len(body), 1, 0, OP_MSG) + body)
        with connection.makefile("rb") as answers:
            (length,) = struct.unpack("<i", answers.read(4))
            answer = answers.read(length - 4)
    # The rest of the header, the flags, and the kind of the only section.
    return decode(answer[12 + 4 + 1 :])


if __name__ == "__main__":
    answer = send(int(sys.argv[1]), json.loads(sys.argv[2]))
    print(json.dumps(answer))
    sys.exit(0 if answer.get("ok") == 1.0 else 1)
