#!/usr/bin/env python3
"""Messages of an OTF2 archive matched by what otf2-print writes, and by nothing else.

usage: otf2_print_matches.py ARCHIVE.otf2 RANKS RANKS_PER_HOST

Prints how many messages within hosts there are, and the sum of their times from the begin of the call that sends to the
end of the call that completes the receive, in ticks. The n-th send of a channel belongs to the n-th receive, both in
the order of the calls that posted them; requests are those of a rank, whichever thread completes them. The lower half
of a location's number is its rank; calls that post on one rank do not overlap. otf2-print looks peers up in the first group
of a communicator: in the one between two groups, the lower half of ranks and the upper, positions are taken instead.
"""
import collections
import re
import subprocess
import sys

BETWEEN = 3  # of otf2_history.c
PEER = re.compile(r'(?:Receiver|Sender): (\d+) \(".*?" <(\d+)>\), Communicator: ".*?" <(\d+)>, Tag: (\d+), Length: (\d+)')
REQUEST = re.compile(r"Request: (\d+)")
REGION = re.compile(r'Region: "(.*?)" <')


def message(line, rank, half):
    position, peer, comm, tag, length = map(int, PEER.search(line).groups())
    if comm == BETWEEN:
        peer = position + half if rank < half else position
    return peer & 0xFFFFFFFF, comm, tag, length


def main():
    text = subprocess.run(["otf2-print", sys.argv[1]], check=True, capture_output=True, text=True).stdout
    half, per_host = int(sys.argv[2]) // 2, int(sys.argv[3])
    entered, open_ends, posts = {}, collections.defaultdict(list), {}
    sends, receives = collections.defaultdict(list), collections.defaultdict(list)
    for line in text.splitlines():
        words = line.split()
        if len(words) < 3 or not words[1].isdigit():
            continue
        kind, location, time = words[0], int(words[1]), int(words[2])
        rank = location & 0xFFFFFFFF
        if kind == "ENTER" and REGION.search(line)[1].startswith("MPI_"):
            entered[location] = time
        elif kind == "LEAVE" and REGION.search(line)[1].startswith("MPI_"):
            for end in open_ends.pop(location, []):
                end["exit"] = time
        elif kind in ("MPI_SEND", "MPI_ISEND"):
            peer, comm, tag, length = message(line, rank, half)
            sends[comm, rank, peer, tag].append({"enter": entered[location], "bytes": length})
        elif kind == "MPI_IRECV_REQUEST":
            posts[rank, int(REQUEST.search(line)[1])] = entered[location]
        elif kind in ("MPI_RECV", "MPI_IRECV"):
            peer, comm, tag, length = message(line, rank, half)
            posted = entered[location] if kind == "MPI_RECV" else posts.pop((rank, int(REQUEST.search(line)[1])))
            end = {"posted": posted, "bytes": length}
            open_ends[location].append(end)
            receives[comm, peer, rank, tag].append(end)
    messages = ticks = 0
    for channel, ends in receives.items():
        ends.sort(key=lambda end: end["posted"])
        assert len(ends) == len(sends[channel]), channel
        for send, end in zip(sends[channel], ends):
            assert send["bytes"] == end["bytes"], channel
            if channel[1] // per_host == channel[2] // per_host:
                messages += 1
                ticks += end["exit"] - send["enter"]
    print(messages, ticks)


main()
