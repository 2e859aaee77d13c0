"""What a worker does: lines through the `rekey` binary, which was shipped to it."""

import json
import os
import subprocess
import tempfile
import threading

from pyspark import SparkFiles

# The shard of lines whose stream nobody can tell.
NO_SHARD = 0
# How `rekey` may end: done, some set aside, refused. Anything else fails the task, which Spark tries again elsewhere.
ENDS = (0, 3, 5)
# What a shard leaves, by the ending of the file that rekey writes beside NAME.
FILES = {"lines": "", "manifest": ".manifest.json", "key_map": ".keys.ndjson", "refused": ".refused.ndjson"}


class Shipped(str):
    """The name of a file that every worker has a copy of."""


def is_result(record):
    return record[0] == "result"


def result(record):
    return json.loads(record[1])


def name(shard):
    """The name of a shard's archive; the names sort as the shards do."""
    return f"part-{shard:05}.ndjson"


class Filter:
    """The two commands, as data that goes to the workers."""

    def __init__(self, binary, layout, rewrite, shards):
        self.binary, self.layout, self.arguments, self.shards = binary, layout, rewrite, shards

    def number(self, lines):
        """Yields (shard, line) for the lines of a piece of the input, wherever it was cut."""
        command = self._command("shard", "--of", str(self.shards))
        counted = [0]
        for numbered in _piped(command, _counting(lines, counted)):
            shard, _, line = numbered.partition(b"\t")
            counted[0] -= 1
            yield int(shard), line
        if counted[0] != 0:
            raise RuntimeError(f"rekey shard gave {-counted[0]} lines more than it got")

    def rewrite(self, shard, numbered):
        """Yields (kind, text) for what one shard becomes: its lines, its companions, and the JSON result."""
        with tempfile.TemporaryDirectory(prefix="rekey-") as folder:
            out, report = os.path.join(folder, name(shard)), os.path.join(folder, "result.json")
            command = self._command("rekey", *self.arguments, "--out", out, "--result", report)
            counted = [0]
            for _ in _piped(command, _counting((line for _, line in numbered), counted)):
                pass
            with open(report, encoding="utf-8") as file:
                came_to = json.load(file)
            if came_to["documents"] != counted[0]:
                raise RuntimeError(f"shard {shard}: {counted[0]} documents in, rekey counted {came_to['documents']}")
            yield "result", json.dumps({**came_to, "shard": shard})
            if counted[0] > 0:
                yield from _files(out)

    def _command(self, verb, *more):
        binary = SparkFiles.get(self.binary)
        os.chmod(binary, 0o700)
        words = [verb, "-", "--quiet", "--progress", "none", *self.layout, *more]
        return [binary, *(SparkFiles.get(word) if isinstance(word, Shipped) else word for word in words)]


def _counting(lines, counted):
    """The lines that are not blank, which `rekey` passes over, counted."""
    for line in lines:
        if line.strip():
            counted[0] += 1
            yield line


def _files(out):
    """Yields what a run has left beside `out`, line by line."""
    for kind, ending in FILES.items():
        if os.path.exists(out + ending):
            with open(out + ending, encoding="utf-8", newline="\n") as file:
                for line in file:
                    yield kind, line.rstrip("\n")


def _piped(command, lines):
    """Yields the lines that a command prints while it is fed."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said)
        failure = []
        feeder = threading.Thread(target=_feed, args=(process.stdin, lines, failure))
        feeder.start()
        try:
            for line in process.stdout:
                yield line.rstrip(b"\n")
        finally:
            process.stdout.close()
            if process.poll() is None and failure:
                process.kill()
            code = process.wait()
            feeder.join()
        if failure:
            raise failure[0]
        if code not in ENDS:
            said.seek(0)
            words = said.read()[-2_000:].decode("utf-8", "replace")
            raise RuntimeError(f"{command[1]} ended with {code}: {words}")


def _feed(pipe, lines, failure):
    try:
        with pipe:
            for line in lines:
                pipe.write(line + b"\n")
    except BrokenPipeError:
        # It has ended early; its exit code says why.
        pass
    except Exception as error:
        failure.append(error)
