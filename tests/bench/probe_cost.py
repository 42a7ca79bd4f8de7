#!/usr/bin/env python3
"""Cost of the probe for each MPI call, against bare runs: paired and interleaved.

    probe_cost.py PROGRAM PROBE STAMPS HOLTER [--repeat N] [--mpirun 'COMMAND']

Each repetition runs PROGRAM (probe_cost.c, two ranks) in four ways, in an order that changes from one repetition
to the next:

    bare     nothing is watched
    stamps   with STAMPS (two_stamps.c): two time stamps around each call, nothing stored; the floor
    probe    with PROBE, and nobody who reads the rings
    live     under `holter run`: the node's agent drains the rings and reports to a daemon

Printed for each way and kernel, in nanoseconds for one call or message: medians of the bare runs and of the watched,
the median of the paired differences with their quartiles, and the median of the paired ratios. A run's figure is the
tenth percentile over its short chunks, which leaves out what else disturbs the machine; the column `usual` is the
difference of the runs' medians over chunks instead, with whatever the agent's drains take from the ranks. The
last columns hold difference and ratio against their budgets.
"""

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

KERNELS = ["pingpong", "rate", "allreduce", "test"]
MODES = ["bare", "stamps", "probe", "live"]
BUDGET_NS = {"pingpong": 35, "rate": 20, "allreduce": 35, "test": 35}
BUDGET_RATIO = {"pingpong": 1.10, "rate": 1.20, "allreduce": 1.07}


def run(options, mode):
    """@return by kernel: tenth percentile and median over its chunks, nanoseconds"""
    environment = dict(os.environ)
    launch = shlex.split(options.mpirun) + ["-n", "2"]
    with tempfile.TemporaryDirectory(prefix="holter-cost-") as directory:
        environment["HOLTER_RUN_DIR"] = directory
        if mode == "stamps":
            launch += ["-x", f"LD_PRELOAD={options.stamps}"]
        elif mode == "probe":
            environment["HOLTER_SESSION"] = f"c057{os.getpid():x}"
            launch += ["-x", "HOLTER_SESSION", "-x", f"LD_PRELOAD={options.probe}"]
        elif mode == "live":
            launch = [options.holter, "run", "--no-record", "--"] + launch
        done = subprocess.run(launch + [options.program], env=environment, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{mode}: exit status {done.returncode}\n{done.stderr}")
    lines = (line.split() for line in done.stdout.splitlines())
    return {name: (float(tenth), float(median)) for name, tenth, median in lines}


def verdict(value, budget):
    if budget is None:
        return ""
    return f"{'within' if value <= budget else 'ABOVE':>6} {budget:g}"


def row(mode, kernel, bare, other):
    pairs = [o[0] - b[0] for b, o in zip(bare, other)]
    quartiles = statistics.quantiles(pairs, n=4) if len(pairs) > 1 else pairs * 3
    more = statistics.median(pairs)
    usual = statistics.median(o[1] - b[1] for b, o in zip(bare, other))
    ratio = statistics.median(o[0] / b[0] for b, o in zip(bare, other))
    text = (f"{mode:7} {kernel:10} {statistics.median(b[0] for b in bare):8.1f} "
            f"{statistics.median(o[0] for o in other):8.1f} {more:+7.1f} {quartiles[0]:+7.1f}{quartiles[2]:+7.1f} "
            f"{usual:+7.1f} {ratio:6.2f}")
    if mode != "stamps":
        text += f"   {verdict(more, BUDGET_NS[kernel]):12}  {verdict(ratio, BUDGET_RATIO.get(kernel)):12}"
    return text.rstrip()


def main():
    parser = argparse.ArgumentParser()
    for name in ("program", "probe", "stamps", "holter"):
        parser.add_argument(name)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--mpirun", default="mpirun.openmpi --oversubscribe --bind-to core")
    options = parser.parse_args()
    if os.getuid() == 0:
        options.mpirun += " --allow-run-as-root"
    times = {mode: {kernel: [] for kernel in KERNELS} for mode in MODES}
    for i in range(options.repeat):
        for mode in MODES if i % 2 == 0 else reversed(MODES):
            for kernel, value in run(options, mode).items():
                times[mode][kernel].append(value)
    print(f"{'with':7} {'kernel':10} {'bare ns':>8} {'ns':>8} {'more':>7} {'quartiles':>14} {'usual':>7} {'ratio':>6}"
          f"   {'nanoseconds':12}  ratio")
    for mode in MODES[1:]:
        for kernel in KERNELS:
            print(row(mode, kernel, times["bare"][kernel], times[mode][kernel]))


if __name__ == "__main__":
    main()
