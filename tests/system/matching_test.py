"""Every message is matched, none wrongly: a stress program tells of each of its messages, Holter is held to it.

The agents at work are compared by counts, for each pair of ranks and size class; the same matching is then done again
on what the ranks' flight recorders hold, where every single match is looked at."""
import collections
import itertools
import os
import signal
import unittest

import bed
import lab
import matching
import recording


def size_class(size):
    """As in include/holter/size_class.h."""
    if size < 64:
        return size
    octave = size.bit_length() - 1
    return 64 + (octave - 6) * 16 + (size >> (octave - 4) & 15)


class Stressed:
    """A job that has done its work and stays until it is let go."""

    def __init__(self, test, place, ranks, launcher, command, env=None):
        self.test, self.place, self.ranks = test, place, ranks
        self.gate = os.path.join(place.dir, 'gate')
        env = {'TRUTH_TRACE': '1', 'TRUTH_GATE': self.gate, 'HOLTER_RING': '65536'} | (env or {})
        self.job = place.holter('run', '--', *launcher, *command, env=env)
        lab.wait_for(lambda: not self.job.alive() or len(os.listdir(place.truths)) == ranks, 'the end of the work')
        test.assertTrue(self.job.alive(), self.job)
        self.trace = matching.Trace(place)
        self.count = sum(map(len, self.trace.sends.values()))

    def replay(self, per_node, seed, on=None):
        """The matching again. @return (wrong within nodes, missing, wrong between nodes, missing)"""
        tool = os.path.join(lab.BUILD, 'tests', 'system', 'match_replay')
        job = self.place.status()['jobs'][-1]['job']
        finished = (on or self.place.run)(tool, job, per_node, seed)
        self.test.assertEqual(0, finished.status, finished)
        replay = matching.Replay(finished.out)
        pairs = self.trace.pairs(replay)
        self.test.assertEqual(self.count, len(pairs))
        self.test.assertEqual(len(replay.messages), sum(c[0] for c in replay.counts))
        return (*matching.within_nodes(pairs, replay, per_node), *matching.between_nodes(pairs, replay, per_node))

    def finish(self):
        with open(self.gate, 'w', encoding='utf-8'):
            pass
        finished = self.job.finish()
        self.test.assertEqual(0, finished.status, finished)
        return self.place.recording()

    def sent(self):
        """{(source, destination, size class): messages}"""
        sent = collections.Counter()
        for (source, destination, _), sends in self.trace.sends.items():
            for *_, size in sends:
                sent[source, destination, size_class(size)] += 1
        return sent


def matched_rows(recorded):
    rows = collections.Counter()
    for window in recorded.windows():
        for row in window['transfers']:
            rows[row['source'], row['destination'], row['size_class']] += row['messages']
    return rows


def node_counts(recorded):
    """(matched, unmatched, rejected) of all agents."""
    newest = {}
    for window in recorded.windows():
        for row in window['node']:
            newest[window['host']] = (row['matched'], row['unmatched'], row['rejected'])
    return tuple(map(sum, zip(*newest.values())))


def halves_joined(recorded):
    """(pairs of halves that have one key, halves without a partner, pairs that contradict each other)"""
    ends = collections.defaultdict(lambda: ([], []))
    for window in recorded.windows():
        for half in window['halves']:
            ends[half['key']][half['receive']].append(half)
    joined, alone, contrary = 0, 0, []
    for sends, receives in ends.values():
        if len(sends) == len(receives) == 1:
            same = all(sends[0][k] == receives[0][k] for k in ('source', 'destination', 'bytes'))
            joined += same
            if not same:
                contrary.append((sends, receives))
        else:
            alone += len(sends) + len(receives)
    return joined, alone, contrary


class Within:
    """On one node; mixed into one class for each MPI."""
    mpi = None
    env = {}

    def check(self, program, seed, rounds, crowd=0):
        command = [lab.program(program, self.mpi), seed, rounds, *([8388608, crowd] if program == 'stress' else [])]
        with lab.Lab() as place:
            stressed = Stressed(self, place, 4, lab.mpirun(self.mpi, 4), command, self.env)
            for per_node in (4, 1, 2):
                wrong, missing, wrong_between, missing_between = stressed.replay(per_node, seed)
                self.assertEqual(([], []), (wrong, wrong_between), f'{per_node} ranks a node')
                if not crowd:
                    self.assertEqual(([], []), (missing, missing_between), f'{per_node} ranks a node')
            recorded = stressed.finish()
            matched, unmatched, rejected = node_counts(recorded)
            rows = matched_rows(recorded)
            if crowd:
                self.assertEqual({}, dict(rows - stressed.sent()))
                self.assertEqual(stressed.count, matched + rejected + unmatched // 2)
            else:
                self.assertEqual((stressed.count, 0, 0), (matched, unmatched, rejected))
                self.assertEqual(stressed.sent(), rows)

    def test_every_way_to_send_and_receive(self):
        self.check('stress', 21, 6)

    def test_threads_that_share_a_tag(self):
        self.check('stress', 22, 2, crowd=1)

    def test_what_one_thread_posts_another_completes(self):
        self.check('threads', 23, 300)


class OpenMpi(Within, unittest.TestCase):
    mpi = 'openmpi'


class Mpich(Within, unittest.TestCase):
    mpi = 'mpich'
    env = {'LD_PRELOAD': lab.YIELDING}


class Counts(unittest.TestCase):
    """What is not matched is counted, and what a failed call does not concern is matched."""

    def test_messages_that_the_agent_did_not_read_in_time_are_counted(self):
        """The agent is stopped until the rings have been lapped: the ranks sum what it does not read."""
        with lab.Lab() as place:
            gate = os.path.join(place.dir, 'gate')
            place.env |= {'HOLTER_RING': '16384', 'TRUTH_GATE': gate + '-end'}
            job = place.holter('run', '--', *lab.mpirun('openmpi', 2, lab.program('pingpong', 'openmpi'), 20000, 8,
                                                        gate))
            lab.wait_for(lambda: not job.alive() or place.ranks_seen() == 2, 'the ranks')
            _, agent = place.agents()
            os.kill(agent, signal.SIGSTOP)
            for at, is_over in (gate, lambda: len(os.listdir(place.truths)) == 2), (gate + '-end', lambda: True):
                with open(at, 'w', encoding='utf-8'):
                    pass
                lab.wait_for(lambda: not job.alive() or is_over(), 'the end of the exchange')
                os.kill(agent, signal.SIGCONT)
            finished = job.finish()
            self.assertEqual(0, finished.status, finished)
            recorded = place.recording()
            self.assertEqual(0, recorded.sums().total('lost'))
            received = sum(messages for messages, _ in place.truth().received.values())
            for (matched, unmatched), so_far in zip(recorded.matched(), itertools.accumulate(recorded.received())):
                self.assertEqual(so_far, matched + unmatched)
            self.assertEqual(received, matched + unmatched)
            self.assertGreater(unmatched, received // 2)
            self.assertGreater(recorded.sums().total('tallied'), received)  # a message has two records
            self.assertEqual((matched, 0), tuple(recorded.matching()[key] for key in ('matched', 'rejected')))
            share = f'{10000 * matched // received / 100:.2f} %' if matched else 'none'
            self.assertIn(f'{recorded.sums().total("tallied"):,} records summed unread, '
                          f'{share} of 40,000 received messages matched, nothing else lost', finished.err)
            told = place.holter('info', recorded.path).finish()
            self.assertIn(f', {matched} of 40000 received', told.out)

    def test_a_call_that_failed_leaves_other_messages_in_step(self):
        for mpi in ('openmpi', 'mpich'):
            with self.subTest(mpi=mpi), lab.Lab() as place:
                place.env['HOLTER_RING'] = '4194304'  # so that all are matched
                finished = place.watched(*lab.mpirun(mpi, 2, lab.program('refused', mpi), 1000))
                self.assertEqual(0, finished.status, finished)
                self.assertEqual((10000, 0), place.recording().matched()[-1])
                self.assertEqual(10000, sum(messages for messages, _ in place.truth().received.values()))
                self.assertIn('nothing lost', finished.err)


class Hosts(unittest.TestCase):
    def test_messages_of_a_job_that_ends_at_once_are_matched(self):
        """Ranks that nobody knows yet may still appear on the node: until then their messages wait, or until the job ends there."""
        with lab.Lab() as place, bed.Bed(place, 2) as hosts:
            finished = place.watched(*hosts.openmpi(), '-n', 2, lab.program('pingpong', 'openmpi'), 100, 8)
            self.assertEqual(0, finished.status, finished)
            self.assertEqual((200, 0), place.recording().matched()[-1])

    def test_what_a_job_sends_between_hosts_first_is_matched_at_once(self):
        """mpirun says how many ranks are on a host: when all are known, no other one need be waited for."""
        with lab.Lab() as place, bed.Bed(place, 2) as hosts:
            steps = os.path.join(place.dir, 'steps')
            os.mkdir(steps)
            job = place.holter('run', '--window', '200ms', '--', *hosts.openmpi(), '-n', 4, lab.program('steps', 'openmpi'),
                               steps, 2000, 20000)
            lab.wait_for(lambda: not job.alive() or (place.status() or {'daemon': {'matched': 0}})['daemon']['matched'] > 1000,
                         'messages to be matched')
            with open(os.path.join(steps, 'end'), 'w', encoding='utf-8'):
                pass
            finished = job.finish()
            self.assertEqual(0, finished.status, finished)
            windows = place.recording().windows()
            for host in hosts.names:
                sent = min(m['window'] for m in windows if m['host'] == host and any(row['sent'] for row in m['ranks']))
                halves = min(m['window'] for m in windows if m['host'] == host and m['halves'])
                self.assertLessEqual(halves, sent + 1, f'{host}: windows of 200 ms')

    def test_messages_from_ranks_that_are_not_watched_are_counted_apart(self):
        """There is no room for segments on the second host."""
        with lab.Lab() as place, bed.Bed(place, 2) as hosts:
            hosts.inside('node2', 'mount', '-o', 'remount,size=64k', '/dev/shm')
            finished = place.watched(*hosts.openmpi(), '-n', 2, lab.program('pingpong', 'openmpi'), 100, 8)
            self.assertEqual(0, finished.status, finished)
            self.assertIn(', 1 rank not watched, 100 received from ranks that are not watched, nothing else lost;', finished.err)
            recorded = place.recording()
            self.assertEqual((0, 0), recorded.matched()[-1])
            told = place.holter('info', recorded.path).finish()
            self.assertRegex(told.out, r'matched +-, 0 of 0 received .*; 100 others came from ranks that are not watched')

    def test_messages_between_four_hosts(self):
        """Two ranks on each of four hosts, every half kept."""
        with lab.Lab() as place, bed.Bed(place, 4, clocks={'node2': 1000}) as hosts:
            stressed = Stressed(self, place, 8, [*hosts.openmpi(), '-n', 8],
                                [lab.program('stress', 'openmpi'), 31, 3, 8388608, 0])
            lab.wait_for(lambda: place.status()['daemon']['matched'] >= 0.999 * stressed.count,
                         'the messages to be matched')
            status, where = place.status()['daemon'], {}
            self.assertLessEqual(status['matched'], stressed.count)
            self.assertEqual((0, 0), (status['unmatched'], status['match_rejected']))
            recorded = stressed.finish()
            for host, members in recorded.members().items():
                where |= {m['rank']: host for m in members}
            local = collections.Counter({k: n for k, n in stressed.sent().items() if where[k[0]] == where[k[1]]})
            between = stressed.count - local.total()
            self.assertEqual((local.total(), 0, 0), node_counts(recorded))
            self.assertEqual(local, matched_rows(recorded))
            joined, alone, contrary = halves_joined(recorded)
            self.assertEqual([], contrary)
            self.assertGreaterEqual(joined, 0.999 * between, alone)
            self.assertLessEqual(joined, between)
            place.check_clean()


if __name__ == '__main__':
    lab.main(network=True)
