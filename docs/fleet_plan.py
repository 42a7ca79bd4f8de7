#!/usr/bin/env python3
"""How many gateways, workers and NATS servers a fleet needs, and how many bytes: docs/fleet.md.

usage: fleet_plan.py [--nodes N] [--jobs N] [--ranks-per-node N] [--window SECONDS[,SECONDS...]] [--hours N]

--hours is how long the stream keeps messages; by default 24. Costs are those of the costliest case below, for each rank; half of a
core is planned where a core could be busy.
"""
import argparse
import math

# tests/bench/fleet_load.py build, on two cores that other programs used as well
MEASURED = '''
agents ranks window   gateway    worker    server   gateway    worker    server     sent   stored recorded  delay uncounted unacked
   500     8      1        91       574       189        36       402       209     18.6     21.4     2.99    283         0      0
  2000     8      4        88       359       114        88       862       313     10.5     11.9     2.14    295         0      0
  5000     8     10        91       393        87       182      1356       387      8.9      9.4     1.82    347         0      0
   200    32      2       236      1864       557        26       580       235     57.9     69.3    11.24    257         0      0
'''
BUSY = 0.5  # of a core that is planned to be busy: the loop of a daemon, or a stream of a server
SERVER_CORES = 8
REPLICAS = 3


def costs():
    """For each rank and window: microseconds of gateway, worker and server, KiB sent, stored and recorded."""
    rows = [list(map(float, line.split())) for line in MEASURED.splitlines()[2:]]
    return [max(row[column] / row[1] for row in rows) for column in (3, 4, 5, 9, 10, 11)]


def plan(arguments, window):
    gateway, worker, server, sent, stored, recorded = costs()
    ranks = arguments.nodes * arguments.ranks_per_node / window  # a second
    job_nodes = arguments.nodes / arguments.jobs
    job_cores = worker * 1e-6 * job_nodes * arguments.ranks_per_node / window
    jobs_each = int(BUSY / job_cores)
    streams = math.ceil(ranks * server * 1e-6 / BUSY)
    seconds = arguments.hours * 3600
    return [
        ('gateways', math.ceil(ranks * gateway * 1e-6 / BUSY)),
        ('workers', math.ceil(arguments.jobs / jobs_each) if jobs_each else 'a job needs more than one'),
        ('nodes that a job may have', int(job_nodes * BUSY / job_cores)),
        ('streams (--cluster), each of three replicas', streams),
        (f'NATS servers of {SERVER_CORES} cores', REPLICAS * math.ceil(streams / SERVER_CORES)),
        ('from agents, MB/s', round(ranks * sent * 1024e-6)),
        ('written by all servers, MB/s', round(REPLICAS * ranks * stored * 1024e-6)),
        ('disk of all servers, TB', round(REPLICAS * ranks * stored * 1024 * seconds * 1e-12, 1)),
        ('recordings, TB a day', round(ranks * recorded * 1024 * 86400e-12, 1)),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (('nodes', 100000), ('jobs', 1000), ('ranks-per-node', 8), ('hours', 24)):
        parser.add_argument(f'--{name}', type=int, default=default)
    parser.add_argument('--window', default='1,5,10')
    arguments = parser.parse_args()
    windows = [float(w) for w in arguments.window.split(',')]
    if min(windows + [arguments.nodes, arguments.jobs, arguments.ranks_per_node, arguments.hours]) <= 0:
        parser.error('numbers above 0 are expected')
    columns = [plan(arguments, window) for window in windows]
    print(f'| {arguments.nodes:,} nodes, {arguments.jobs:,} jobs, {arguments.ranks_per_node} ranks a node; windows of | '
          + ' | '.join(f'{w:g} s' for w in windows) + ' |')
    print('| --- |' + ' --- |' * len(columns))
    for rows in zip(*columns):
        print(f'| {rows[0][0]} | ' + ' | '.join(f'{value:,}' if not isinstance(value, str) else value for _, value in rows) + ' |')


if __name__ == '__main__':
    main()
