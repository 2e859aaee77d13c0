#!/usr/bin/env python3
"""Counts the instructions of the loops that every document goes through, and compares them with those committed.

usage: instructions.py PROGRAM COUNTS RUSTC [--accept]

PROGRAM is benches/instructions.rs, built; COUNTS the committed table; RUSTC the compiler's version. --accept writes the
table anew.

A count is callgrind's, so it is the same on every run: callgrind shows the program a processor of its own, which has
no SHA instructions, whatever processor it runs on. SHA-256 done in software would still drown the rest, so it has a
column of its own, where one sees whether more is digested than before. What another compiler makes of the same code
cannot be compared, nor what a processor with other vector instructions runs, which callgrind does show: counts of
another compiler or processor are shown, with a warning, and nothing is decided.
"""

import os
import re
import subprocess
import sys
import tempfile

# More than this above the committed count is a regression.
BOUND = 0.05
# Of a count this small a few instructions are already a percent; it is not decided on its own.
LEAST = 100
# Where a processor has these, memory is searched and text compressed by other code.
VECTORS = {"sse4_2", "avx2", "bmi2"}
SHA = re.compile(r"sha2::(sha256|soft|core_api)|sha2.*compress")


def count(program, loop, folder):
    """Gives the instructions of one run of a loop: those of SHA-256, and all others."""
    out = os.path.join(folder, "out")
    subprocess.run(
        [
            "valgrind", "--tool=callgrind", "--quiet", "--compress-strings=no", "--compress-pos=no",
            "--collect-atstart=no", "--toggle-collect=*counted_run*", f"--callgrind-out-file={out}", program, loop,
        ],
        check=True,
    )
    sha = rest = 0
    function, of_a_call = "", False
    with open(out, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("fn="):
                function = line[3:].strip()
            elif line.startswith("calls="):
                # The line after it repeats what the called function's own lines say.
                of_a_call = True
            elif line[:1].isdigit():
                if of_a_call:
                    of_a_call = False
                elif SHA.search(function):
                    sha += int(line.split()[-1])
                else:
                    rest += int(line.split()[-1])
    if rest == 0:
        sys.exit(f"{loop}: callgrind counted nothing; is the program stripped?")
    return rest, sha


def measure(program):
    """Gives loop → (instructions a document without SHA-256, those of SHA-256)."""
    listed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        for line in listed.splitlines():
            loop, documents = line.split("\t")
            counts[loop] = tuple(part / int(documents) for part in count(program, loop, folder))
    return counts


def place(compiler):
    """Says what decides which instructions a loop takes: the compiler, and the processor's vector instructions."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = next((line for line in file if line.startswith("flags")), "")
    return f"{compiler}, {' '.join(sorted(VECTORS & set(flags.split())))}"


def read(path):
    """Gives the committed table: where it was counted, and loop → counts."""
    counted_with, counts = "", {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = line.rstrip("\n").split("\t")
            if line.startswith("# rustc"):
                counted_with = line[2:].strip()
            elif not line.startswith("#") and len(cells) == 3:
                counts[cells[0]] = (float(cells[1]), float(cells[2]))
    return counted_with, counts


def write(path, here, counts):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write("# Instructions a document, counted by callgrind; scripts/instructions.sh --accept writes this table.\n")
        file.write(f"# {here}\n# loop\twithout SHA-256\tSHA-256 in software\n")
        for loop, (rest, sha) in counts.items():
            file.write(f"{loop}\t{rest:.0f}\t{sha:.0f}\n")


def growth(now, before):
    return now / before - 1 if before >= LEAST else 0.0


def compare(committed, counts):
    """Prints every loop beside its committed count; gives the loops that have become slower."""
    slower = []
    print(f"{'':28}{'instructions':>14}{'committed':>14}{'':>9}{'SHA-256':>14}{'committed':>14}")
    for loop, (rest, sha) in counts.items():
        before = committed.get(loop)
        if before is None:
            slower.append(f"{loop} has no committed count")
            before = (rest, sha)
        grown = [growth(rest, before[0]), growth(sha, before[1])]
        print(f"{loop:28}{rest:>14,.0f}{before[0]:>14,.0f}{grown[0]:>+8.1%} {sha:>14,.0f}{before[1]:>14,.0f}{grown[1]:>+8.1%}")
        if max(grown) > BOUND:
            slower.append(f"{loop} takes {max(grown):.1%} more instructions than committed")
    slower += [f"{loop} is committed and gone" for loop in committed if loop not in counts]
    return slower


def main():
    program, path, compiler, *flags = sys.argv[1:]
    here = place(compiler)
    counts = measure(program)
    if flags == ["--accept"]:
        write(path, here, counts)
    elif flags:
        sys.exit(__doc__)
    counted_with, committed = read(path)
    slower = compare(committed, counts)
    if counted_with != here:
        print(f"!!! nothing is decided: the committed counts are those of {counted_with}, this is {here}")
    elif slower:
        sys.exit("\n".join([*slower, "Mend it, or say why in the change and commit what --accept writes."]))


if __name__ == "__main__":
    main()
