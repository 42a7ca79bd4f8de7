"""Captures: the last calls of each rank of real jobs, exactly those that the program made, asked for by hand and by an
alert; in the stream, in the recording, and in its replay."""
import json
import os
import signal
import sqlite3
import time
import unittest

import lab

RANKS = 4
RULES = 'rules:\n  - name: hang\n    kind: hang\n    for: 4s\n    stopped-for: 4s\n    capture: {}\n'
RECEIVE, DONE = 2, 8  # enum event_flag
ROUNDS = 20
PAUSE = 0.6  # agents capture no faster than that


def truth_of(directory):
    """What the program says: its calls by rank, in order, and the messages that they got."""
    calls, got = [[] for _ in range(RANKS)], [[] for _ in range(RANKS)]
    for rank in range(RANKS):
        with open(os.path.join(directory, f'last.{rank}'), encoding='utf-8') as f:
            for line in f:
                words = line.split()
                if words[0] == 'last':
                    calls[rank].append((words[2], *(None if w == '-' else int(w) for w in words[3:6])))
                else:
                    got[rank].append(tuple(map(int, words[2:5])))
    return calls, got


def records_of(messages, rank):
    """Records of a rank, in order."""
    found = []
    for m in messages:
        for event in m['events']:
            if m['threads'][event['thread']]['rank'] == rank:
                found.append(event)
    return found


class Captures(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)

    def path(self, name):
        return os.path.join(self.place.dir, name)

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as f:
            f.write(text)
        return self.path(name)

    def start(self, mpi, captures):
        """A daemon that records, a job whose ranks wait for the last of them, and what is told of captures."""
        rules = self.write('rules.yaml', RULES.format(captures))
        self.daemon = self.place.daemon('--rules', rules)
        self.job = self.place.holter('run', '--', *lab.mpirun(mpi, RANKS, lab.program('last', mpi), self.path('gate'),
                                                              ROUNDS))
        lab.wait_for(lambda: self.place.ranks_seen() == RANKS or not self.job.alive(), 'the ranks to be known')
        self.assertTrue(self.job.alive(), str(self.job))
        self.tap = self.place.tap('--topic', 'captures,alerts', '--until-end')

    def capture(self, *options):
        done = self.place.holter('capture', '-f', 'json', *options).finish()
        self.assertEqual(0, done.status, str(done))
        return [json.loads(line) for line in done.out.splitlines()]

    def told(self):
        """Messages of the stream so far."""
        lines = [line for line in self.tap.out().splitlines(keepends=True) if line.endswith('\n')]
        return lab.stream_messages(''.join(lines))

    def captures(self, told=None):
        return [m for m in (told or self.told()) if m['topic'] == 'captures']

    def they_wait(self):
        """Are all ranks but the last in the barrier at the end?"""
        time.sleep(PAUSE)
        done = self.place.holter('capture', '-f', 'json', '--events', '1').finish()  # at first there is no call
        newest = [e for line in done.out.splitlines() for e in json.loads(line)['events']]
        return sum(e['running'] and e['call_name'] == 'MPI_Barrier' for e in newest) == RANKS - 1

    def end(self):
        self.write('gate', '')
        done = self.job.finish()
        self.assertEqual(0, done.status, str(self.job))
        self.tap.finish()
        self.daemon.kill(signal.SIGTERM)
        self.assertEqual(0, self.daemon.finish().status, str(self.daemon))
        return truth_of(self.place.truths)

    def check(self, messages, truth, ranks=range(RANKS), most=10**6):
        """The newest records of the ranks are those that the program tells of."""
        calls, got = truth
        for rank in ranks:
            records = records_of(messages, rank)
            self.assertEqual(sorted(r['number'] for r in records), [r['number'] for r in records])
            seen = [r for r in records if r['kind'] == 1]
            expected = calls[rank][-len(seen):] if most < 10**6 else calls[rank]
            self.assertEqual([c[0] for c in expected], [r['call_name'] for r in seen], f'rank {rank}')
            for call, record in zip(expected, seen):
                told = (record['peer'], record['tag'], record['bytes'])
                for wanted, found in zip(call[1:], told):
                    self.assertIn(wanted, (None, found), f'rank {rank}: {call}, {record}')
            received = [(r['peer'], r['tag'], r['bytes']) for r in records
                        if r['flags'] & (RECEIVE | DONE) == RECEIVE | DONE]
            self.assertEqual(sorted(got[rank][-len(received):]), sorted(received), f'rank {rank}')
            self.assertEqual([0] * (len(seen) - 1), [r['running'] for r in seen[:-1]])
            self.assertEqual(int(rank != RANKS - 1), seen[-1]['running'], seen[-1])

    def recording(self):
        names = [n for n in os.listdir(self.place.output) if n.endswith('.hrec')]
        self.assertEqual(1, len(names), names)
        return os.path.join(self.place.output, names[0])

    def window(self, name):
        """What the window shows of captures to somebody who comes when all is told."""
        path = self.path(name)
        done = self.place.holter('view', '--snapshot', path, '--view', 'captures', '--after', '1').finish()
        self.assertEqual(0, done.status, str(done))
        with open(path, encoding='utf-8') as f:
            return f.read()

    # -- tests ----------------------------------------------------------------------------------

    def check_past(self, whole):
        """With --until the newest calls that had ended then are read back, although as many came later."""
        calls = records_of(whole, 1)
        ends = {c['number']: whole[0]['at_ns'] + c['begin_ns'] + c['length_ns'] for c in calls}
        until = ends[calls[len(calls) // 2]['number']]
        captured = self.capture('--ranks', '1', '--events', '10', '--until', str(until))
        past = records_of(captured, 1)
        # each capture has an estimate of the clock of its own, which is within the error that it states
        margin = 1000 + whole[0]['clock_error_ns'] + captured[0]['clock_error_ns']
        near = [number for number, end_ns in ends.items() if abs(end_ns - until) <= margin]
        last = past[-1]['number']
        self.assertTrue(min(near) - 4 <= last <= max(near) + 4, (near, last))  # a call may have several
        self.assertLess(1, len(past))
        refused = self.place.holter('capture', '--until', '+10s').finish()
        self.assertEqual(2, refused.status, str(refused))
        self.assertIn('--until +10s', refused.err)
        time.sleep(PAUSE)
        before = self.place.holter('capture', '--until', str(min(ends.values()) - 10**12)).finish()
        self.assertEqual(1, before.status, str(before))
        self.assertIn('nothing was captured', before.err)

    def by_hand(self, mpi):
        """All calls since the begin, as the program made them; and the newest few of some ranks."""
        self.start(mpi, 'false')
        lab.wait_for(self.they_wait, 'the ranks to wait')
        time.sleep(PAUSE)
        whole = self.capture('--events', '65536')
        time.sleep(PAUSE)
        self.assertEqual((1, sum(len(m['events']) for m in whole)), (whole[-1]['answered'], whole[-1]['records']))
        few = self.capture('--ranks', '1,3', '--events', '10')
        text = self.path('text')
        time.sleep(PAUSE)
        self.check_past(whole)
        time.sleep(PAUSE)
        done = self.place.holter('capture', '--events', '3', '-o', text).finish()
        self.assertEqual(0, done.status, str(done))
        truth = self.end()
        self.check(whole, truth)
        self.check(few, truth, (1, 3), 10)
        self.assertEqual([], records_of(few, 0) + records_of(few, 2))
        self.assertTrue(0 < len(records_of(few, 1)) <= 10)
        with open(text, encoding='utf-8') as f:
            lines = f.read().splitlines()
        self.assertEqual(RANKS - 1, sum('in it' in line and 'MPI_Barrier' in line for line in lines), lines)
        # what was answered is what was told and kept
        told = self.captures()
        numbers = {m['id'] for m in whole}
        self.assertEqual([m['events'] for m in whole], [m['events'] for m in told if m['id'] in numbers])
        with sqlite3.connect(self.recording()) as file:
            rows = file.execute('SELECT rank, number, call FROM capture_events WHERE capture = ? '
                                'ORDER BY rank, number', (whole[0]['id'],)).fetchall()
            heads = file.execute('SELECT id, alert, records, nodes, answered FROM captures ORDER BY id').fetchall()
        self.assertEqual([(rank, r['number'], r['call_name']) for rank in range(RANKS)
                          for r in records_of(whole, rank)], rows)
        self.assertEqual(sorted({m['id'] for m in told}), [head[0] for head in heads])
        self.assertTrue(all(head[1] == 0 and head[3] == head[4] == 1 for head in heads), heads)
        self.assertEqual(sum(len(m['events']) for m in told), sum(head[2] for head in heads))

    def by_alert(self, mpi):
        """A hang is captured by itself: of the rank that is named, and those that it exchanges most with."""
        self.start(mpi, 'true')
        lab.wait_for(self.captures, 'the capture of the alert')
        live = self.window('live.txt')
        truth = self.end()
        told = self.told()
        captured = self.captures(told)
        alert = [m for m in told if m['topic'] == 'alerts' and m['state'] == 'firing'][0]
        self.assertEqual({1}, {m['id'] for m in captured})
        self.assertEqual({alert['id']}, {m['alert'] for m in captured})
        ranks = {t['rank'] for m in captured for t in m['threads']}
        self.assertEqual('3', alert['ranks'])
        self.assertEqual({0, 2, 3}, ranks)  # its neighbours
        self.check(captured, truth, sorted(ranks), 256)
        # a replay tells the same
        path = self.recording()
        endpoint = f'ipc://{self.path("replay.sock")}'
        self.place.env['HOLTER_DAEMON'] = endpoint
        replay = self.place.holter('replay', '-c', endpoint, '--speed', 'max', path)
        tap = self.place.tap('--topic', 'captures', '--count', str(len(captured)))
        again = self.captures(lab.stream_messages(tap.finish().out))
        self.assertEqual([m['events'] for m in captured], [m['events'] for m in again])
        calls = sum(event['kind'] == 1 for m in captured for event in m['events'])
        for text in (live, self.window('replay.txt')):
            for words in ('Capture 1', f'3 ranks, {calls:,} calls', captured[0]['reason'], 'rank 3'):
                self.assertIn(words, text)
        refused = self.place.holter('capture').finish()
        self.assertEqual(1, refused.status, str(refused))
        self.assertIn('a recording is replayed: nobody can be asked for a capture', refused.err)
        replay.kill(signal.SIGTERM)
        self.assertEqual(0, replay.finish().status, str(replay))
        # and the trace has the calls
        trace = self.path('trace.json')
        done = self.place.holter('export', '--format', 'perfetto', '-o', trace, path).finish()
        self.assertEqual(0, done.status, str(done))
        with open(trace, encoding='utf-8') as f:
            events = json.load(f)['traceEvents']
        slices = [e for e in events if e['pid'] == 3 and e['ph'] == 'X' and e['name'].startswith('MPI_')]
        self.assertEqual(sum(len([r for r in records_of(captured, rank) if r['kind'] == 1]) for rank in ranks),
                         len(slices))

    def test_by_hand_openmpi(self):
        self.by_hand('openmpi')

    def test_by_hand_mpich(self):
        self.by_hand('mpich')

    def test_by_alert_openmpi(self):
        self.by_alert('openmpi')

    def test_by_alert_mpich(self):
        self.by_alert('mpich')


if __name__ == '__main__':
    lab.main()
