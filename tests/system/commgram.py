"""Generated recordings, their replay, and the pictures that the daemon makes of them."""
import collections
import json
import os
import subprocess

import lab

MAKE = os.path.join(lab.BUILD, 'tests', 'system', 'commgram_make')


def make(path, pattern, *numbers, **options):
    """Write a recording of a pattern, commgram_make.c tells which there are. @return path"""
    words = [f'--{name.replace("_", "-")}={value}' for name, value in options.items()]
    subprocess.run([MAKE, *words, path, pattern, *map(str, numbers)], check=True, stdout=subprocess.DEVNULL)
    return path


class Replay:
    """A daemon with these options that has read a recording. Use with `with`."""

    def __init__(self, place, path, *options):
        self.place, self.path, self.options = place, path, options

    def __enter__(self):
        self.endpoint = f'ipc://{os.path.join(self.place.run_dir, "replay.sock")}'
        self.daemon = self.place.start(os.path.join(lab.BUILD, 'daemon', 'holterd'), '--listen', self.endpoint,
                                       '--replay', self.path, *self.options)
        self.place.env['HOLTER_DAEMON'] = self.endpoint
        lab.wait_for(lambda: not self.daemon.alive() or self._ended(), 'the end of the replay')
        if not self.daemon.alive():
            raise AssertionError(str(self.daemon.finish()))
        self.job = self.place.status()['jobs'][-1]['job']
        return self

    def __exit__(self, kind, value, trace):
        self.daemon.kill(15)
        finished = self.daemon.finish()
        if kind is None and finished.status != 0:
            raise AssertionError(str(finished))

    def _ended(self):
        status = self.place.status()
        return status and status['jobs'] and status['jobs'][-1]['state'] != 'running'

    def topics(self, names):
        """The state of some topics, as `holter tap` prints it."""
        finished = self.place.tap('--until-end', '--job', self.job, '--topic', names).finish()
        if finished.status != 0:
            raise AssertionError(str(finished))
        return finished.out

    def curve(self):
        """Points of the curve, by phase."""
        points = [p for m in lab.stream_messages(self.topics('curve')) if m['topic'] == 'curve' for p in m['points']]
        return sorted(points, key=lambda p: p['phase'])

    def ask(self, *arguments):
        """What `holter commgram` prints."""
        finished = self.place.holter('commgram', '-f', 'json', *arguments).finish()
        if finished.status != 0:
            raise AssertionError(str(finished))
        return finished.out

    def span(self, column):
        """Options that ask for the time of a column only."""
        job = next(m for m in lab.stream_messages(self.topics('job')) if m['topic'] == 'job')
        begin, end = column['begin_ns'] - job['start_ns'], column['end_ns'] - job['start_ns'] + 1000
        return '--from', f'{begin / 1e9:.9f}', '--to', f'{end / 1e9:.9f}'

    def picture(self, *arguments):
        return Picture(lab.stream_messages(self.ask(*arguments)))


class Picture:
    """An answer to "commgram", its parts put together."""

    def __init__(self, parts):
        self.columns, self.bars, self.ribbons = ([row for part in parts for row in part[kind]]
                                                 for kind in ('columns', 'bars', 'ribbons'))
        self.from_ns, self.to_ns = parts[0]['from_ns'], parts[0]['to_ns']
        ranks = collections.defaultdict(list)
        for part in parts:
            for run in part['members']:
                ranks[run['column'], run['bar']] += range(run['rank'], run['rank'] + run['count'])
        self.ranks = dict(ranks)  # column, bar: its ranks

    def groups(self, column):
        """Ranks of the bars of a column, from the top."""
        return [self.ranks[bar['column'], bar['bar']] for bar in self.bars if bar['column'] == column]

    def pairs(self, column):
        """Ribbons of a column whose bars are single ranks: {(source, destination): (messages, bytes)}"""
        pairs = {}
        for r in self.ribbons:
            if r['column'] != column:
                continue
            (source,), (destination,) = self.ranks[column, r['from']], self.ranks[column + 1, r['to']]
            messages, size = pairs.get((source, destination), (0, 0))
            pairs[source, destination] = (messages + r['messages'], size + r['bytes'])
        return pairs


def visits(points, tolerance=1e-9):
    """Sections of the curve that are flat: [(height, how many phases)]"""
    sections = []
    for point in points:
        if sections and abs(sections[-1][0] - point['height']) <= tolerance:
            sections[-1] = (sections[-1][0], sections[-1][1] + 1)
        else:
            sections.append((point['height'], 1))
    return sections
