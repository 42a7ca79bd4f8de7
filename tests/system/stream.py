"""Follows what `holter tap -f json` prints while a job runs."""
import json
import os

import lab


class Stream:
    """The published stream of a job, from when it is made."""

    def __init__(self, place, *arguments):
        self.place = place
        self.tap = place.tap('--until-end', '--topic', 'totals,alerts,latency,regions,places,job', *arguments)
        self.at, self.rest = 0, b''
        self.windows = []   # numbers of those published, in order
        self.starts = {}    # window: when it began, ns since 1970
        self.alerts = {}    # alert's id: its messages, oldest first
        self.before = {}    # id of an alert that fired: how many windows were published until then
        self.latencies = {}  # window: series of the job, localities and regions
        self.rank_latencies = {}  # window: rows of ranks
        self.criteria = {}  # window: what messages of each size normally take
        self.regions = {}   # rank: region
        self.hosts = {}     # rank: host

    def read(self):
        """Take what has come. @return self"""
        while data := os.pread(self.tap.out_file.fileno(), 1 << 20, self.at):
            self.at += len(data)
            *lines, self.rest = (self.rest + data).split(b'\n')
            for line in lines:
                self._take(json.loads(line))
        return self

    def _take(self, message):
        topic = message['topic']
        if topic == 'totals' and message['window'] not in self.windows[-10:]:
            self.windows.append(message['window'])
            self.starts[message['window']] = message['start_ns']
        elif topic == 'alerts':
            self.alerts.setdefault(message['id'], []).append(message)
            if message['state'] == 'firing':
                self.before.setdefault(message['id'], len(self.windows))
        elif topic == 'latency':
            self.latencies[message['window']] = message['series']
            if message['ranks']:
                self.rank_latencies[message['window']] = message['ranks']
                self.criteria[message['window']] = message['criteria']
        elif topic == 'regions':
            self.regions |= {m['rank']: m['region'] for m in message['members']}
        elif topic == 'places':
            hosts = [h['name'] for h in message['hosts']]
            self.hosts |= {p['rank']: hosts[p['node']] for p in message['places']}

    def of_kind(self, kind):
        """Alerts of a kind that fire or have fired: {id: messages}."""
        return {i: messages for i, messages in self.alerts.items()
                if messages[-1]['kind'] == kind and any(m['state'] == 'firing' for m in messages)}

    def windows_to_fire(self, alert, since_ns):
        """How many windows that began behind a moment were published before the alert fired."""
        return sum(self.starts[w] >= since_ns for w in self.windows[:self.before[alert]])

    def wait(self, condition, what, seconds=lab.PATIENCE):
        """Until the condition holds for the stream, or it has ended."""
        def done():
            alive = self.tap.alive()
            return condition(self.read()) or not alive
        lab.wait_for(done, what, seconds)
        value = condition(self.read())
        if not value:
            raise AssertionError(f'the job ended without {what}: {self.tap}')
        return value

    def wait_windows(self, more):
        """Until so many more windows are published."""
        wanted = len(self.read().windows) + more
        self.wait(lambda s: len(s.windows) >= wanted, f'{wanted} windows')


def ranks_of(text):
    """Ranks that an alert names, "0-3,8"."""
    ranks = set()
    for part in filter(None, text.split(',')):
        first, _, last = part.partition('-')
        ranks |= set(range(int(first), int(last or first) + 1))
    return ranks
