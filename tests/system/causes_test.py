"""Why a rank is late: told apart by what its process does, on the first alert."""
import os
import signal
import sys
import unittest

import lab
import stream

WINDOW = '500ms'
RULES = '''
rules:
  - name: latency-growth
    kind: latency
    for: 500ms
    clear-for: 2500ms
'''
STEADY = 30  # windows before the rank is disturbed
RANKS = 4
LATE = 1  # the rank that has a core of its own, programs/causes.c
BUSY = 'import os\nos.sched_setaffinity(0, {%d})\nwhile True: pass'
STOPS = '''
import os, signal, time
try:
    while True:
        for number in signal.SIGSTOP, signal.SIGCONT:
            os.kill(%d, number)
            time.sleep(0.15)
except ProcessLookupError:
    pass
'''


class Causes(unittest.TestCase):
    maxDiff = None

    def check(self, cause, phrase, disturb):
        """The first alert once the rank is disturbed. @param disturb  gets the job's directory, and the process"""
        with lab.Lab() as place:
            control = os.path.join(place.dir, 'control')
            os.mkdir(control)
            rules = os.path.join(place.dir, 'rules.yaml')
            with open(rules, 'w', encoding='utf-8') as f:
                f.write(RULES)
            run = place.holter('run', '--window', WINDOW, '--rules', rules, '--',
                               *lab.mpirun('openmpi', RANKS, lab.program('causes', 'openmpi'), control))
            lab.wait_for(lambda: not run.alive() or place.ranks_seen() == RANKS, 'all ranks')
            self.assertTrue(run.alive(), run)
            job = stream.Stream(place)
            job.wait_windows(STEADY)
            self.assertEqual({}, job.of_kind('latency'), 'an alert although nothing is slow')
            with open(os.path.join(control, f'pid.{LATE}'), encoding='utf-8') as f:
                pid = int(f.read())
            disturbers = disturb(place, control, pid)
            job.wait(lambda s: s.of_kind('latency'), 'latency alert')
            for disturber in disturbers:
                disturber.kill()
                disturber.finish()
            first = next(m for m in job.alerts[min(job.of_kind('latency'))] if m['state'] == 'firing')
            os.kill(pid, signal.SIGCONT)
            self.file(control, 'end')
            self.assertEqual(0, run.finish().status, run)
            job.tap.finish()
            self.assertEqual(('rank', str(LATE)), (first['culprit'], first['culprits']), first)
            self.assertEqual(cause, first['causes'][0]['name'], first)
            self.assertIn(f'rank {LATE} {phrase}: ', first['title'])

    @staticmethod
    def file(directory, name):
        with open(os.path.join(directory, name), 'w', encoding='utf-8'):
            pass

    def by_file(self, name):
        def disturb(_, control, __):
            self.file(control, f'{name}.{LATE}')
            return []
        return disturb

    def test_a_rank_that_has_more_work_computes_longer(self):
        self.check('computes-longer', 'computes longer', self.by_file('work'))

    def test_a_rank_whose_core_others_take_is_interrupted(self):
        def disturb(place, _, __):
            return [place.start(sys.executable, '-c', BUSY % (os.cpu_count() - 1)) for _ in range(5)]
        self.check('interrupted', 'is kept off its core', disturb)

    def test_a_rank_that_is_stopped_and_continued_is_stopped(self):
        self.check('stopped', 'is stopped again and again',
                   lambda place, _, pid: [place.start(sys.executable, '-c', STOPS % pid)])

    def test_a_rank_that_writes_to_a_disk_waits_for_it(self):
        self.check('io', 'waits for I/O', self.by_file('write'))


if __name__ == '__main__':
    lab.main()
