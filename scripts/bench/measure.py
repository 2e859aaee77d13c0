#!/usr/bin/env python3
"""Runs commands and measures them against each other in the same minutes on the same machine.

usage: measure.py time ROUNDS NAME=COMMAND NAME=COMMAND...    the first is compared with each of the others
       measure.py rate ROUNDS DOCUMENTS NAME=COMMAND NAME=COMMAND    documents a second, and CPU time for each
       measure.py memory NAME=COMMAND...                      peak resident size of each

A command may use $ROUND, the number of its round. For `rate`, SERVER_PIDS may name processes on this machine whose CPU
time is told, too.

Rounds are interleaved (every command once, then every command again), and a ratio is taken within a round, so that
a slow minute of the machine slows both sides. What is printed is the median of the rounds and their spread.
"""

import os
import statistics
import subprocess
import sys
import time


def cpu_of_servers():
    """Gives the CPU seconds that the processes of SERVER_PIDS have used so far."""
    ticks = 0
    for pid in os.environ.get("SERVER_PIDS", "").split():
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def run(command, number=1):
    """Runs one command to its end; gives the seconds it took, its peak resident size in bytes, its CPU seconds and
    those of the servers meanwhile."""
    servers = cpu_of_servers()
    begin = time.monotonic()
    environment = os.environ | {"ROUND": str(number)}
    process = subprocess.Popen(["bash", "-c", command], stdin=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"exit code {process.returncode} of: {command}")
    return seconds, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime, cpu_of_servers() - servers


def named(arguments):
    return [argument.split("=", 1) for argument in arguments]


def compare_time(rounds, commands):
    taken = {name: [] for name, _ in commands}
    for number in range(1, rounds + 1):
        for name, command in commands:
            taken[name].append(run(command, number)[0])
    subject = commands[0][0]
    print(f"{'':14}{'median':>10}{'fastest':>10}{'slowest':>10}   {subject} takes")
    for name, _ in commands:
        seconds = taken[name]
        row = f"{name:14}{statistics.median(seconds):>8.2f} s{min(seconds):>8.2f} s{max(seconds):>8.2f} s"
        if name != subject:
            ratios = [mine / theirs for mine, theirs in zip(taken[subject], seconds)]
            row += f"   {statistics.median(ratios):.2f} x {name} ({min(ratios):.2f} to {max(ratios):.2f})"
        print(row)


def compare_rate(rounds, documents, commands):
    """The first command against the second, pair by pair: speed, and the client's CPU time for each document."""
    (subject, mine), (other, theirs) = commands
    pairs = []
    for number in range(1, rounds + 1):
        pairs.append((run(mine, number), run(theirs, number)))
    for at, name in enumerate((subject, other)):
        rates = [documents / pair[at][0] for pair in pairs]
        cpu = [pair[at][2] / documents * 1e6 for pair in pairs]
        servers = [pair[at][3] / documents * 1e6 for pair in pairs]
        row = f"{name:10}{statistics.median(rates):>10,.0f} documents/s{statistics.median(cpu):>9.1f} µs CPU a document"
        print(row + (f", the server's {statistics.median(servers):.1f} µs" if any(servers) else ""))
    speed = [theirs[0] / mine[0] for mine, theirs in pairs]
    cpu = [mine[2] / theirs[2] for mine, theirs in pairs]
    print(f"{subject} has {statistics.median(speed):.2f} x the speed of {other} ({min(speed):.2f} to {max(speed):.2f})")
    print(f"{subject} takes {statistics.median(cpu):.2f} x its CPU time ({min(cpu):.2f} to {max(cpu):.2f})")


def compare_memory(commands):
    peaks = [(name, run(command)[1]) for name, command in commands]
    first = peaks[0][1]
    for name, peak in peaks:
        growth = "" if peak is first else f"   {(peak / first - 1) * 100:+.1f} %"
        print(f"{name:34}{peak / 2**20:>9.1f} MiB{growth}")


def main():
    match sys.argv[1:]:
        case ["time", rounds, *commands] if commands:
            compare_time(int(rounds), named(commands))
        case ["rate", rounds, documents, *commands] if len(commands) == 2:
            compare_rate(int(rounds), int(documents), named(commands))
        case ["memory", *commands] if commands:
            compare_memory(named(commands))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
