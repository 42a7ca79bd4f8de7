"""`holter record`: recordings of a job that runs already, beside the daemon's own."""
import contextlib
import json
import os
import signal
import sqlite3
import unittest

import lab
import recording


def count(path, table):
    """Rows of a table of a recording that may be in the making."""
    try:
        # Closed, unlike with `with` alone: a reader keeps the recorder from folding in its log.
        with contextlib.closing(sqlite3.connect(f'file:{path}?mode=ro', uri=True)) as db:
            return db.execute(f'SELECT count(*) FROM {table}').fetchone()[0]
    except sqlite3.Error:
        return 0


def windows(recorded):
    return {(instance, message['seq']): message for instance, name, message in recorded.messages() if name == 'window'}


class Attached(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """One job; one recording of it until the job's end, one that is interrupted."""
        cls.place = lab.Lab()
        cls.place.__enter__()
        cls.addClassCleanup(cls.place.close)
        own = os.path.join(cls.place.output, 'own')
        elsewhere = os.path.join(cls.place.output, 'elsewhere')
        for directory in (own, elsewhere):
            os.mkdir(directory)
        run = cls.place.holter('run', '--window', '100ms', '--record', own, '--', *lab.mpirun(
            'openmpi', 4, lab.program('halo', 'openmpi'), 150000, 1000, 2))
        lab.wait_for(lambda: not run.alive() or any(count(p, 'totals') > 5 for p in cls.place.recordings()),
                     'windows of the job')
        if not run.alive():
            raise AssertionError(str(run.finish()))
        cls.own = recording.Recording(cls.place.recordings()[0])
        cls.path = os.path.join(cls.place.output, 'attached.hrec')
        record = cls.place.holter('record', '-o', cls.path)
        broken_off = cls.place.holter('record', cwd=elsewhere)
        lab.wait_for(lambda: any(count(os.path.join(elsewhere, f), 'totals') > 3 for f in os.listdir(elsewhere)
                                 if f.endswith('.hrec')), 'windows in the recording that is broken off')
        lab.wait_for(lambda: count(cls.path, 'totals') > 3, 'windows in the recording')
        cls.second = cls.place.holter('record', '-o', cls.path).finish()
        broken_off.kill(signal.SIGINT)
        cls.broken_off = broken_off.finish()
        cls.ran_on = run.alive()
        cls.short = [os.path.join(elsewhere, f) for f in os.listdir(elsewhere)]
        cls.run_end, cls.record_end = run.finish(), record.finish()

    def info(self, path):
        finished = self.place.holter('info', '-f', 'json', path).finish()
        self.assertEqual(0, finished.status, str(finished))
        return json.loads(finished.out)

    def test_all_end_well(self):
        self.assertTrue(self.ran_on, 'the job ended too early for this test')
        for finished in (self.run_end, self.record_end, self.broken_off):
            self.assertEqual(0, finished.status, str(finished))
        self.assertIn('messages', self.record_end.out)

    def test_the_launcher_is_reported(self):
        for path in (self.own.path, self.path):
            self.assertEqual('mpirun of Open MPI', self.info(path)['launcher'])

    def check_begin(self, path):
        """Every window from some time on, as the daemon has it. @return the windows"""
        made = recording.Recording(path)
        made.check()
        attached, own = windows(made), windows(self.own)
        first = min(seq for _, seq in attached)
        self.assertGreater(first, min(seq for _, seq in own), 'nothing came before')
        last = max(seq for _, seq in attached)
        self.assertEqual({key: window for key, window in own.items() if first <= key[1] <= last}, attached)
        self.assertEqual(made.members(), self.own.members())
        info = self.info(path)
        self.assertGreater(info['attached_ns'], 0)
        self.assertEqual(0, info['messages_missed'])
        return attached

    def test_windows_from_then_on_are_those_of_the_daemon(self):
        attached = self.check_begin(self.path)
        self.assertEqual(max(windows(self.own)), max(attached))
        sums, own = recording.Recording(self.path).sums(), recording.Sums()
        for key, window in windows(self.own).items():
            if key in attached:
                own.add(window)
        self.assertEqual(own.sent, sums.sent)
        self.assertEqual(own.ranks, sums.ranks)
        self.assertGreater(sums.total('sent'), 0)

    def test_one_that_is_interrupted_is_whole_up_to_then(self):
        self.assertEqual(1, len(self.short), self.short)
        attached = self.check_begin(self.short[0])
        self.assertLess(max(attached), max(windows(self.own)))

    def test_results_are_those_of_the_daemon(self):
        rows = 'SELECT * FROM totals WHERE window > ? ORDER BY window'
        with sqlite3.connect(self.own.path) as own, sqlite3.connect(self.path) as attached:
            first, = attached.execute('SELECT min(window) FROM totals').fetchone()
            found = attached.execute(rows, (first,)).fetchall()
            self.assertGreater(len(found), 3)
            self.assertEqual(own.execute(rows, (first,)).fetchall(), found)
            late = 'SELECT * FROM lateness WHERE window > ? ORDER BY window, rank'
            self.assertEqual(own.execute(late, (first,)).fetchall(), attached.execute(late, (first,)).fetchall())
            state = 'SELECT job, state, world, seen FROM job'
            self.assertEqual(own.execute(state).fetchall(), attached.execute(state).fetchall())

    def test_it_says_since_when(self):
        finished = self.place.holter('info', self.path).finish()
        self.assertIn('recorded only from', finished.out, str(finished))

    def test_it_replays(self):
        directory = os.path.join(self.place.dir, 'again')
        endpoint = f'ipc://{os.path.join(self.place.run_dir, "replay.sock")}'
        finished = self.place.holter('replay', '-c', endpoint, '--record', directory, '--quit-at-end',
                                     self.path).finish()
        self.assertEqual(0, finished.status, str(finished))
        again = recording.Recording(os.path.join(directory, os.listdir(directory)[0]))
        self.assertEqual(recording.Recording(self.path).sums().sent, again.sums().sent)
        sums = 'SELECT window, sent, received, calls FROM totals WHERE window > ? ORDER BY window'
        with sqlite3.connect(self.path) as made, sqlite3.connect(again.path) as replayed:
            first = min(message['window'] for message in windows(again).values())
            found = replayed.execute(sums, (first,)).fetchall()
            self.assertGreater(len(found), 3)
            self.assertEqual(made.execute(sums, (first,)).fetchall(), found)

    def test_nothing_is_written_over(self):
        self.assertEqual(1, self.second.status, str(self.second))
        self.assertIn('is there already', self.second.err)

    def test_wrong_usage_is_reported(self):
        for words in (('--max-size', '15M'), ('one', 'two'), ('-c', 'nowhere')):
            finished = self.place.holter('record', *words).finish()
            self.assertEqual(2, finished.status, str(finished))


if __name__ == '__main__':
    lab.main()
