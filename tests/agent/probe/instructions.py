#!/usr/bin/env python3
"""instructions.py PROGRAM PROBE: instructions that the probe adds to a call, counted by callgrind.

PROGRAM (tests/bench/probe_cost.c) runs its kernels with two lengths; the difference of what was executed in
the probe's own code, without the MPI library that it calls, cancels start-up. Counts on a busy machine are
those of an idle one, so this is the gate that keeps the probe cheap; nanoseconds are the benchmark's. Fails
when a limit is passed."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SHORT, LONG = 640, 1920
# Instructions for one call; of Waitall for each of its 64 receives. What is measured today, and some room for
# another compiler.
LIMITS = {"Send": 122, "Recv": 138, "Isend": 148, "Irecv": 176, "Waitall": 94, "Allreduce": 110, "Test": 90}


def own_instructions(path, probe):
    """Instructions of each call's own code in the probe, and under "" of all its other functions: the lines of
    callgrind's output that belong to its object and are not the cost of a callee (valgrind manual, "Callgrind
    Format Specification")."""
    names, current, own, function, callee = {}, "", {}, "", False
    for line in open(path, encoding="utf-8"):
        match = re.match(r"(c?ob|c?fn)=\((\d+)\)(?: (.*))?", line)
        if match:
            kind, key, name = match.groups()
            key = kind[-2:] + key
            names[key] = name.strip() if name else names[key]
            if kind == "ob":
                current = os.path.basename(names[key])
            elif kind == "fn":
                call = re.match(r"(?:watch_)?P?MPI_(\w+)", names[key])
                function = call.group(1) if call else ""
        elif line.startswith("calls="):
            callee = True  # the next line is its cost
        elif re.match(r"[0-9+*-]", line):
            if not callee and current == os.path.basename(probe):
                own[function] = own.get(function, 0) + int(line.split()[1])
            callee = False
    return own


def count(program, probe, length):
    """For each rank, instructions by call."""
    directory = tempfile.mkdtemp(prefix="holter-callgrind-")
    command = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-x", "HOLTER_SESSION",
               "--mca", "mpi_yield_when_idle", "1", "-n", "2", "valgrind", "--tool=callgrind", "-q",
               "--trace-children=yes", f"--callgrind-out-file={directory}/out.%q{{OMPI_COMM_WORLD_RANK}}",
               "env", f"LD_PRELOAD={probe}", program, str(length)]
    if os.getuid() == 0:
        command.insert(1, "--allow-run-as-root")
    try:
        subprocess.run(command, check=True, timeout=300, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, HOLTER_SESSION=f"ca11{os.getpid():x}"))
        return [own_instructions(f"{directory}/out.{rank}", probe) for rank in range(2)]
    finally:
        shutil.rmtree(directory)


def main(program, probe):
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        return 77
    short, long = count(program, probe, SHORT), count(program, probe, LONG)
    failed = False
    for call, limit in LIMITS.items():
        each = max(after.get(call, 0) - before.get(call, 0) for before, after in zip(short, long)) / (LONG - SHORT)
        print(f"MPI_{call:10} {each:6.1f} instructions, limit {limit}")
        failed |= not 0 < each <= limit
    other = max(after.get("", 0) - before.get("", 0) for before, after in zip(short, long)) / (LONG - SHORT)
    print(f"elsewhere      {other:6.1f} instructions, limit 1")
    return int(failed or other > 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
