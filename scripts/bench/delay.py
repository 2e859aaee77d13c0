#!/usr/bin/env python3
"""Stands between a client and a server and holds back what passes, as a long way between the two would.

usage: delay.py MILLISECONDS HOST:PORT     prints READY HOST:PORT, where it listens, and serves until it is ended

Half of the time is added on the way there and half on the way back, so that a round trip takes MILLISECONDS more. A
way is long, not narrow: what is sent meanwhile travels at the same time. A server that tells its own address, as
MongoDB and Cosmos DB do, is made to tell this one's, or its clients would take the short way.
"""

import asyncio
import contextlib
import socket
import sys

PIECE = 256 * 1024
# How many pieces of one direction are under way before the sender has to wait.
UNDER_WAY = 256


async def carry(reader, writer, seconds, told=b"", instead=b""):
    """Passes on what is read, each piece so many seconds after it came; then the end. Wherever it says `told`, it says
    `instead`, which has the same length."""
    clock = asyncio.get_running_loop().time
    way = asyncio.Queue(UNDER_WAY)

    async def arrive():
        while True:
            due, piece = await way.get()
            await asyncio.sleep(due - clock())
            if not piece:
                break
            writer.write(piece)
            await writer.drain()
        with contextlib.suppress(OSError):
            writer.write_eof()

    arriving = asyncio.create_task(arrive())
    try:
        piece = None
        while piece != b"":
            piece = await reader.read(PIECE)
            await way.put((clock() + seconds, piece.replace(told, instead) if told else piece))
        await arriving
    finally:
        arriving.cancel()


async def serve(seconds, address, client):
    reader, writer = client
    host, _, port = address.rpartition(":")
    answers, requests = await asyncio.open_connection(host, int(port), limit=PIECE)
    ends = [writer, requests]
    told, instead = address.encode(), own_address(writer).encode()
    for end in ends:
        end.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        await asyncio.gather(carry(reader, requests, seconds), carry(answers, writer, seconds, told, instead))
    finally:
        for end in ends:
            end.close()


def own_address(of):
    return "%s:%d" % of.get_extra_info("socket").getsockname()


async def listen(accept, like):
    """Listens on a port of as many digits as the one of `like`, so that one can stand in the other's place."""
    turned_down = []
    while True:
        server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=PIECE, backlog=512)
        address = "%s:%d" % server.sockets[0].getsockname()
        if len(address) == len(like):
            for other in turned_down:
                other.close()
            return server, address
        turned_down.append(server)


async def main():
    if len(sys.argv) != 3 or ":" not in sys.argv[2]:
        sys.exit(__doc__)
    seconds, address = float(sys.argv[1]) / 2000, sys.argv[2]

    async def accept(*client):
        # A connection that breaks is the client's and the server's business.
        with contextlib.suppress(OSError):
            await serve(seconds, address, client)

    server, listening = await listen(accept, address)
    print(f"READY {listening}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
