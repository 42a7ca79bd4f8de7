"""Replays of a real job: sent to and fro from the command line, and recorded anew."""
import glob
import os
import re
import sqlite3
import unittest

import lab

TABLES = ('totals', 'nodes', 'places', 'alert', 'latency', 'region', 'phase', 'curve', 'topology', 'seat')
PLACE = re.compile(r'replay +(\S+) +(\w+) +at .*run (\d+); ')


class Replays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = lab.Lab()
        cls.place.__enter__()
        cls.addClassCleanup(cls.place.close)
        finished = cls.place.holter('run', '--window', '100ms', '--', *lab.mpirun(
            'openmpi', 4, lab.program('halo', 'openmpi'), 20000, 1000)).finish()
        if finished.status != 0:
            raise AssertionError(str(finished))
        cls.recorded = cls.place.recordings()[0]

    def replay(self, *options, recording=None):
        """Start `holter replay` of the recording."""
        endpoint = f'ipc://{os.path.join(self.place.run_dir, "replay.sock")}'
        self.place.env['HOLTER_DAEMON'] = endpoint
        daemon = self.place.holter('replay', '-c', endpoint, *options, recording or self.recorded)
        self.addCleanup(daemon.kill, 9)
        return daemon

    def ask(self, words, status=0):
        """State and run after `holter replay --ask`."""
        finished = self.place.holter('replay', '--timeout', lab.PATIENCE, '--ask', words).finish()
        self.assertEqual(status, finished.status, str(finished))
        found = PLACE.match(finished.out)
        return (found.group(2), int(found.group(3))) if found else finished.err

    def tables(self, path):
        with sqlite3.connect(path) as db:
            return {name: db.execute(f'SELECT * FROM {name} ORDER BY 1, 2').fetchall() for name in TABLES}

    def test_a_replay_is_sent_to_and_fro(self):
        daemon = self.replay('--paused')
        self.assertEqual(('paused', 1), self.ask(''))
        self.assertEqual(('paused', 2), self.ask('seek 50%'))
        self.assertEqual(('paused', 2), self.ask('step'))
        self.assertEqual(('paused', 3), self.ask('step back'))
        self.assertEqual(('ended', 4), self.ask('seek -0s'))
        self.assertIn('outside', self.ask('seek +9h', status=1))
        self.assertIn('is expected', self.ask('wind', status=1))
        daemon.kill(2)
        self.assertEqual(0, daemon.finish().status)

    def test_seeks_that_overtake_each_other_are_no_failure(self):
        daemon = self.replay('--paused')
        self.assertEqual(('paused', 1), self.ask(''))
        asked = [self.place.holter('replay', '--timeout', lab.PATIENCE, '--ask', f'seek {percent}%')
                 for percent in range(0, 96, 4)]
        for running in asked:
            finished = running.finish()
            self.assertEqual(0, finished.status, str(finished))
        self.assertEqual('paused', self.ask('')[0])
        daemon.kill(2)
        finished = daemon.finish()
        self.assertEqual((0, ''), (finished.status, finished.err))

    def test_what_is_asked_while_another_run_takes_over_is_done(self):
        part = os.path.join(self.place.output, 'part.hrec')
        self.assertEqual(0, self.place.holter('cut', '--from', '40%', '--to', '60%', '-o', part,
                                              self.recorded).finish().status)
        endpoint = f'ipc://{os.path.join(self.place.run_dir, "loop.sock")}'
        self.place.env['HOLTER_DAEMON'] = endpoint
        daemon = self.place.holter('replay', '-c', endpoint, '--loop', part)
        self.addCleanup(daemon.kill, 9)
        for _ in range(8):
            self.assertEqual('paused', self.ask('pause')[0])
            self.ask('play')
        self.ask('loop off')
        while self.ask('')[0] != 'ended':
            pass
        daemon.kill(2)
        self.assertEqual(0, daemon.finish().status)

    def test_others_are_answered_while_it_is_sent_to_and_fro(self):
        part = os.path.join(self.place.output, 'answered.hrec')
        self.assertEqual(0, self.place.holter('cut', '--from', '40%', '--to', '60%', '-o', part,
                                              self.recorded).finish().status)
        daemon = self.replay('--loop', recording=part)
        self.ask('')
        for number in range(6):
            running = []
            for words in (('status',), ('commgram',), ('status', '--format', 'json'), ('commgram',)):
                running.append(self.place.holter('replay', '--timeout', lab.PATIENCE, '--ask', f'seek {10 * number}%'))
                running.append(self.place.holter(*words, '--timeout', lab.PATIENCE))
            for finished in [command.finish() for command in running]:
                self.assertEqual((0, ''), (finished.status, finished.err), str(finished))
        daemon.kill(2)
        self.assertEqual(0, daemon.finish().status)

    def test_a_recording_that_grows_is_replayed_as_far_as_it_was(self):
        growing, later = (os.path.join(self.place.output, name) for name in ('growing.hrec', 'later.hrec'))
        for path, part in ((growing, ('--to', '50%')), (later, ('--from', '50%'))):
            self.assertEqual(0, self.place.holter('cut', *part, '-o', path, self.recorded).finish().status)
        end = re.compile(r'ended +at \S+, (.*?) of (.*?), speed')
        daemon = self.replay('--paused', recording=growing)
        self.assertEqual(('ended', 2), self.ask('seek -0s'))
        with sqlite3.connect(growing) as db:
            db.execute('ATTACH ? AS later', (later,))
            db.execute('INSERT INTO block(first, messages, begin_ns, end_ns, length, others, data)'
                       ' SELECT first + (SELECT sum(messages) FROM main.block), messages, begin_ns, end_ns, length, others, data'
                       ' FROM later.block')
        self.ask('play')
        while self.ask('')[0] != 'ended':
            pass
        finished = self.place.holter('replay', '--ask', '').finish()
        position, length = end.search(finished.out).groups()
        self.assertEqual(length, position)
        daemon.kill(2)
        self.assertEqual(0, daemon.finish().status)

    def test_a_picture_of_a_replay_that_stands_still_is_taken_wherever_it_is(self):
        daemon = self.replay('--paused')
        for number, moment in enumerate(('0%', '50%')):
            self.ask(f'seek {moment}')
            path = os.path.join(self.place.output, f'still-{number}.txt')
            finished = self.place.holter('view', '--snapshot', path, '--after', '1000').finish()
            self.assertEqual(0, finished.status, str(finished))
            with open(path, encoding='utf-8') as scene:
                self.assertIn('REPLAY PAUSED', scene.read())
        path = os.path.join(self.place.output, 'still-jobs.txt')
        finished = self.place.holter('view', '--snapshot', path, '--after', '1000', '--view', 'jobs').finish()
        self.assertEqual(0, finished.status, str(finished))
        daemon.kill(2)
        self.assertEqual(0, daemon.finish().status)

    def test_a_network_that_is_asked_for_has_to_be_there(self):
        finished = self.replay('--topology', 'nowhere.yaml').finish()
        self.assertEqual(2, finished.status, str(finished))
        self.assertIn('--topology: nowhere.yaml: No such file', finished.err)

    def test_a_recording_of_it_has_to_have_a_place(self):
        finished = self.replay('--record', self.recorded, '--quit-at-end').finish()
        self.assertEqual(1, finished.status, str(finished))
        self.assertEqual(1, len(finished.err.splitlines()), finished.err)
        self.assertIn(f'cannot record in {self.recorded}: Not a directory', finished.err)

    def test_a_recording_of_it_that_stops_is_a_failure(self):
        directory = os.path.join(self.place.output, 'stops')
        whole = os.path.join(self.place.output, 'whole')
        self.assertEqual(0, self.replay('--speed', 'max', '--record', whole, '--quit-at-end').finish().status)
        size = os.path.getsize(glob.glob(os.path.join(whole, '*.hrec'))[0]) // 2
        endpoint = f'ipc://{os.path.join(self.place.run_dir, "stops.sock")}'
        finished = self.place.start('prlimit', f'--fsize={size}:', os.path.join(lab.BUILD, 'agent', 'holter'), 'replay', '-c',
                                    endpoint, '--speed', 'max', '--record', directory, '--quit-at-end',
                                    self.recorded).finish()
        self.assertEqual(1, finished.status, str(finished))
        self.assertRegex(finished.err, 'recording of job .* stops: ')

    def test_two_recordings_of_a_replay_are_equal_and_say_what_was_live(self):
        made = []
        for speed in ('max', '40'):
            directory = os.path.join(self.place.output, f'again-{speed}')
            finished = self.replay('--speed', speed, '--record', directory, '--quit-at-end').finish()
            self.assertEqual(0, finished.status, str(finished))
            made += glob.glob(os.path.join(directory, '*.hrec'))
        self.assertEqual(2, len(made))
        first, second = (self.tables(path) for path in made)
        self.assertEqual(first, second)
        self.assertGreater(len(first['totals']), 3)
        with sqlite3.connect(self.recorded) as live, sqlite3.connect(made[0]) as again:
            sums = 'SELECT sum(sent), sum(sent_bytes), sum(received), sum(calls) FROM totals WHERE NOT late'
            self.assertEqual(live.execute(sums).fetchone(), again.execute(sums).fetchone())
        self.assertEqual(0, self.place.holter('diff', *made).finish().status)


if __name__ == '__main__':
    lab.main()
