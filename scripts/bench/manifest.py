#!/usr/bin/env python3
"""Gives a generated archive the manifest that `rekey export` would have written beside it.

usage: manifest.py ARCHIVE REKEYED_MANIFEST

The layout's digest is known to the program alone, so the manifest is taken from one that `rekey rekey` wrote when it
read the archive without one. Its digest of the input is compared with the file's.
"""

import hashlib
import json
import os
import sys


def main():
    archive, rekeyed = sys.argv[1:]
    with open(rekeyed, encoding="utf-8") as file:
        manifest = json.load(file)
    with open(archive, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    account = manifest.pop("rekey")
    if account["input_sha256"] != digest:
        sys.exit(f"{archive}: the manifest {rekeyed} was made from another file")
    manifest.update(
        archive=os.path.basename(archive),
        bytes=os.path.getsize(archive),
        sha256=digest,
        sorted=True,
    )
    with open(archive + ".manifest.json", "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
