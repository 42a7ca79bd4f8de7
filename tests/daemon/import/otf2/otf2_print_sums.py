#!/usr/bin/env python3
"""Figures of an OTF2 archive from what otf2-print writes, and from nothing else.

usage: otf2_print_sums.py ARCHIVE.otf2

Prints, sorted: pair SOURCE DESTINATION MESSAGES BYTES, received RANK MESSAGES BYTES, collective RANK OPERATION COUNT
SENT RECEIVED, call RANK NAME COUNT. Ranks are locations; the archive has one for each rank, in order.
"""
import collections
import re
import subprocess
import sys

PEER = re.compile(r'(?:Receiver|Sender): \d+ \(".*?" <(\d+)>\)')
LENGTH = re.compile(r"Length: (\d+)")
SIZES = re.compile(r"Sent: (\d+), Received: (\d+)")
REGION = re.compile(r'Region: "(.*?)" <')


def add(table, key, *figures):
    row = table.setdefault(key, [0] * len(figures))
    for i, figure in enumerate(figures):
        row[i] += figure


def main():
    text = subprocess.run(["otf2-print", sys.argv[1]], check=True, capture_output=True, text=True).stdout
    table = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 3 or not words[1].isdigit():
            continue
        kind, rank = words[0], int(words[1])
        if kind in ("MPI_SEND", "MPI_ISEND"):
            peer, length = int(PEER.search(line)[1]), int(LENGTH.search(line)[1])
            add(table, ("pair", rank, peer), 1, length)
        elif kind in ("MPI_RECV", "MPI_IRECV"):
            add(table, ("received", rank), 1, int(LENGTH.search(line)[1]))
        elif kind == "MPI_COLLECTIVE_END":
            sent, received = map(int, SIZES.search(line).groups())
            add(table, ("collective", rank, words[4].rstrip(",")), 1, sent, received)
        elif kind == "ENTER":
            add(table, ("call", rank, REGION.search(line)[1]), 1)
    for key in sorted(table):
        print(*key, *table[key])


main()
