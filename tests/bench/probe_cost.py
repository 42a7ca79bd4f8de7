#!/usr/bin/env python3
"""Cost of the probe for each MPI call, against bare runs: paired and interleaved.

    probe_cost.py PROGRAM PROBE [--holter HOLTER] [--repeat N] [--mpirun 'COMMAND']

Each repetition runs PROGRAM (probe_cost.c, two ranks) bare, with the probe, and under `holter exec` with the
node's agent draining live when HOLTER is given; the order changes from one repetition to the next. Printed: medians, the median of the
paired differences in nanoseconds with their quartiles, the ratio, and the budget.
"""

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

KERNELS = ["pingpong", "rate", "allreduce", "test"]
BUDGET = {"pingpong": 35, "rate": 20, "allreduce": 35, "test": 35}
FLOOR = {"pingpong": 27, "rate": 7, "allreduce": 16, "test": 26}  # two rdtsc stamps, nothing stored


def run(options, mode):
    environment = dict(os.environ)
    command = shlex.split(options.mpirun) + ["-n", "2"]
    with tempfile.TemporaryDirectory(prefix="holter-cost-", ignore_cleanup_errors=True) as directory:
        if mode == "probe":
            environment["HOLTER_SESSION"] = f"c057{os.getpid():x}"
            command += ["-x", "HOLTER_SESSION", "-x", f"LD_PRELOAD={options.probe}"]
        elif mode == "agent":
            environment["HOLTER_RUN_DIR"] = directory
            environment["HOLTER_DAEMON"] = f"ipc://{directory}/none.sock"
            command += ["-x", "HOLTER_RUN_DIR", "-x", "HOLTER_DAEMON", options.holter, "exec"]
        text = subprocess.run(command + [options.program], env=environment, check=True, text=True,
                              stdout=subprocess.PIPE).stdout
    result = {}
    for line in text.splitlines():
        name, value = line.split()
        result[name] = float(value)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("probe")
    parser.add_argument("--holter")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--mpirun", default="mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to core")
    options = parser.parse_args()
    modes = ["bare", "probe"] + (["agent"] if options.holter and os.access(options.holter, os.X_OK) else [])
    times = {mode: {kernel: [] for kernel in KERNELS} for mode in modes}
    for i in range(options.repeat):
        for mode in modes if i % 2 == 0 else reversed(modes):
            for kernel, value in run(options, mode).items():
                times[mode][kernel].append(value)
    print(f"{'kernel':10} {'with':6} {'bare ns':>8} {'ns':>8} {'median +':>9} {'quartiles':>15} {'ratio':>6} "
          f"{'floor':>6} {'budget':>7}")
    for mode in modes[1:]:
        for kernel in KERNELS:
            bare, other = times["bare"][kernel], times[mode][kernel]
            pairs = sorted(o - b for b, o in zip(bare, other))
            quartiles = statistics.quantiles(pairs, n=4) if len(pairs) > 1 else [pairs[0]] * 3
            print(f"{kernel:10} {mode:6} {statistics.median(bare):8.1f} {statistics.median(other):8.1f} "
                  f"{statistics.median(pairs):+9.1f} {quartiles[0]:+7.1f}{quartiles[2]:+7.1f} "
                  f"{statistics.median(o / b for b, o in zip(bare, other)):6.2f} {FLOOR[kernel]:+6d} "
                  f"{BUDGET[kernel]:+7d}")


if __name__ == "__main__":
    sys.exit(main())
