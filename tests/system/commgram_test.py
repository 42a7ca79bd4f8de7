"""The CommGram: phases, communities and the curve of jobs whose pattern is known.

The figures named are those of the paper that it comes from: J. Wu, J. Zeng, H. Yu, "CommGram: a new visual analytics
tool for large communication trace data", VPA 2014."""
import contextlib
import itertools
import os
import random
import shutil
import signal
import sqlite3
import unittest

import commgram
import lab
import recording
import view_test

IMAGE = 1 << 22  # bytes, commgram_make's default


class Generated(unittest.TestCase):
    """Recordings of patterns that are known exactly, replayed."""

    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)

    def replay(self, pattern, *numbers, **options):
        path = os.path.join(self.place.dir, f'{pattern}-{numbers[0]}.hrec')
        return commgram.Replay(self.place, commgram.make(path, pattern, *numbers, **options))

    def assert_halves(self, columns, low=0.45, high=0.55):
        for before, after in zip(columns, columns[1:]):
            self.assertGreaterEqual(after['bytes'], low * before['bytes'])
            self.assertLessEqual(after['bytes'], high * before['bytes'])

    def test_binary_swap_is_reported_stage_by_stage(self):
        """Fig. 3 and 4: partners rank ^ 2^k, half the bytes each time."""
        for ranks, stages in ((8, 3), (16, 4)):
            with self.subTest(ranks=ranks), self.replay('binary-swap', ranks) as replay:
                picture = replay.picture('--phases', stages, '--communities', ranks)
                self.assertEqual(stages, len(picture.columns))
                for stage in range(stages):
                    self.assertEqual({(r, r ^ 1 << stage): (1, IMAGE >> stage + 1) for r in range(ranks)},
                                     picture.pairs(stage))

    def test_communities_of_binary_swap_are_nested_pairs(self):
        """Fig. 5: 16, 8, 4, 2 and 1 communities."""
        with self.replay('binary-swap', 16) as replay:
            for size in (1, 2, 4, 8, 16):
                picture = replay.picture('--phases', 1, '--communities', 16 // size)
                self.assertEqual([list(range(r, r + size)) for r in range(0, 16, size)], picture.groups(0))

    def test_fewer_phases_hold_the_sums_of_more(self):
        """Fig. 4: one to four intervals."""
        with self.replay('binary-swap', 16) as replay:
            whole = replay.picture('--phases', 1).columns[0]
            for phases in (2, 3, 4):
                columns = replay.picture('--phases', phases).columns
                self.assertEqual(phases, len(columns))
                for figure in ('messages', 'bytes', 'bursts'):
                    self.assertEqual(whole[figure], sum(c[figure] for c in columns), figure)

    def test_two_three_swap_of_4320_ranks_halves_in_12_phases(self):
        """Fig. 8 and 9."""
        with self.replay('two-three-swap', 4320) as replay:
            picture = replay.picture('--phases', 12, '--communities', 18)
            self.assertEqual(12, len(picture.columns))
            self.assert_halves(picture.columns)
            for number, column in enumerate(picture.columns):
                self.assertEqual(18, len(picture.groups(number)))
                self.assertEqual(list(range(4320)), sorted(sum(picture.groups(number), [])))
                ribbons = [r for r in picture.ribbons if r['column'] == number]
                for figure in ('messages', 'bytes'):
                    self.assertEqual(column[figure], sum(r[figure] for r in ribbons), figure)
            first = replay.picture('--phases', 12, '--communities', 4320).pairs(0)
            self.assertEqual(picture.columns[0]['messages'], sum(messages for messages, _ in first.values()))
            for source, destination in first:
                self.assertLessEqual(abs(source - destination), 2, 'the first stage joins two or three neighbours')

    def test_curve_of_the_case_study_has_two_levels(self):
        """Fig. 7: eight phases of simulation, one of compositing, three times."""
        with self.replay('insitu', 4320, 3) as replay:
            sections = commgram.visits(replay.curve())
            low = sections[1][0]
            self.assertLess(low, 0)
            self.assertEqual([(0, 8), (low, 1)] * 3, sections)
            picture = replay.picture('--phases', 27, '--communities', 18)
            self.assertEqual(27, len(picture.columns))
            heights = [c['height'] for c in picture.columns]
            self.assertEqual(([heights[0]] * 8 + [heights[8]]) * 3, heights)
            self.assertGreater(picture.columns[8]['bytes'], picture.columns[7]['bytes'])
            inside = replay.picture(*replay.span(picture.columns[8]), '--phases', 12, '--communities', 18)
            self.assertEqual(12, len(inside.columns))
            self.assert_halves(inside.columns)

    def test_ranks_that_are_asked_for_are_those_that_are_shown(self):
        """Fig. 10 (d): a rank of a simulation has six neighbours."""
        with self.replay('halo', 4, 5, 6) as replay:
            pairs = replay.picture('--phases', 1, '--communities', 120, '--ranks', '7').pairs(0)
            partners = {6, 4, 11, 3, 27, 107}
            self.assertEqual({(7, p) for p in partners} | {(p, 7) for p in partners}, set(pairs))

    def test_ranks_of_a_job_by_groups_are_said_to_be_groups(self):
        path = commgram.make(os.path.join(self.place.dir, 'groups.hrec'), 'halo', 4, 5, 6)
        with commgram.Replay(self.place, path, '--most-ranks', '64') as replay:
            printed = self.place.holter('commgram', '--phases', 1).finish()
            answer = replay.ask('--phases', 1)
        self.assertIn('a rank in this table is a group: 0 stands for ranks 0-1\n', printed.out, printed)
        self.assertEqual({2}, {part['group'] for part in lab.stream_messages(answer)})

    def test_colours_and_heights_are_those_of_the_job_wherever_the_picture_begins(self):
        with self.replay('insitu', 60, 2, window=250, pause=400) as replay:
            whole = replay.picture('--phases', 18, '--communities', 6)
            for number in (3, 8, 12):  # a step of simulation, the first image, a step after it
                alone = replay.picture(*replay.span(whole.columns[number]), '--phases', 1, '--communities', 6)
                self.assertEqual(whole.columns[number]['height'], alone.columns[0]['height'])
                self.assertEqual([b['community'] for b in whole.bars if b['column'] == number],
                                 [b['community'] for b in alone.bars if b['column'] == 0])

    def test_replayed_twice_the_same_is_reported(self):
        answers = set()
        for _ in range(2):
            with self.replay('insitu', 60, 2, window=250, pause=400) as replay:
                answers.add((replay.topics('phases,curve'), replay.ask('--phases', 18, '--communities', 6)))
        self.assertEqual(1, len(answers))

    def test_a_recording_of_any_name_is_reported_and_drawn(self):
        """As `holter run -o` names it, without a daemon that was started before."""
        path = os.path.join(self.place.dir, 'run-7')
        commgram.make(path, 'binary-swap', 8)
        with commgram.Replay(self.place, path) as replay:
            served = replay.ask('--phases', 3)
        del self.place.env['HOLTER_DAEMON']
        own = self.place.holter('commgram', '-f', 'json', '--phases', 3, path).finish()
        self.assertEqual((0, served, ''), (own.status, own.out, own.err))
        picture = os.path.join(self.place.dir, 'own.png')
        drawn = self.place.holter('view', '--view', 'commgram', '--snapshot', picture, path).finish()
        self.assertEqual(0, drawn.status, drawn)
        self.assertEqual((1600, 900), view_test.png_size(picture))

    def test_what_is_no_recording_is_not_reported(self):
        path = os.path.join(self.place.dir, 'notes')
        far = os.path.join(self.place.dir, 'a' * 210, 'b' * 210, 'notes')
        os.makedirs(os.path.dirname(far))
        for notes in (path, far):
            with open(notes, 'w', encoding='utf-8') as f:
                f.write('no recording')
        for words, status, text in (((path,), 1, 'no recording at all'), ((path + '-2',), 1, 'No such file'),
                                    ((far,), 1, 'no recording at all'),
                                    (('-c', 'ipc:///there', path), 2, '--connect is of a daemon')):
            finished = self.place.holter('commgram', *words).finish()
            self.assertEqual((status, ''), (finished.status, finished.out), finished)
            self.assertIn(text, finished.err)

    def test_what_cannot_be_read_is_reported(self):
        path = os.path.join(self.place.dir, 'damaged.hrec')
        shutil.copy(os.path.join(lab.SOURCE, 'docs', 'slow-link.hrec'), path)
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("UPDATE block SET data = x'00' WHERE first = 137")
            db.commit()
        finished = self.place.holter('commgram', path).finish()
        self.assertEqual(0, finished.status, finished)
        self.assertIn('damaged.hrec: message 137: it is damaged, and left out\n', finished.err)

    def test_more_phases_than_a_picture_has_are_refused(self):
        finished = self.place.holter('commgram', '--phases', 257, os.path.join(lab.SOURCE, 'docs', 'slow-link.hrec')).finish()
        self.assertEqual((2, ''), (finished.status, finished.out), finished)
        self.assertIn("--phases cannot be '257'", finished.err)

    def test_a_picture_is_drawn(self):
        with self.replay('insitu', 60, 2, window=250, pause=400) as replay:
            for name in ('x.png', 'x.txt'):
                path = os.path.join(self.place.dir, name)
                finished = self.place.holter('view', '--job', replay.job, '--snapshot', path, '--view', 'commgram',
                                             '--from', '0', '--phases', '18', '--communities', '6').finish(60)
                self.assertEqual(0, finished.status, finished)
            self.assertEqual((1600, 900), view_test.png_size(os.path.join(self.place.dir, 'x.png')))


class Imported(unittest.TestCase):
    """Tables of messages whose patterns and pauses are known: the phases of the job, and pictures of them."""

    RANKS = 32
    PARTNERS = {
        'pairs': lambda rng, rank: rank ^ 1,
        'blocks': lambda rng, rank: rank // 8 * 8 + rng.randrange(8),
        'strides': lambda rng, rank: rng.randrange(8) * 4 + rank % 4,
        'anybody': lambda rng, rank: rng.randrange(32),
    }
    COMMUNITIES = {'pairs': 16, 'blocks': 4, 'strides': 4, 'anybody': 1}

    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)

    def make(self, seed):
        """Runs of one pattern each, in which pauses are up to 20 ms; between two of them 0.35 s or more, sometimes
        seconds. @return recording, [(pattern, begin, end)] in seconds"""
        rng = random.Random(seed)
        runs, rows, now = [], ['source,destination,bytes,send_begin,send_end,receive_begin,receive_end'], 1.0
        for number in range(rng.randrange(8, 14)):
            pattern = rng.choice([p for p in self.PARTNERS if not runs or p != runs[-1][0]])
            begin, end = now, now + rng.uniform(0.6, 2.5)
            while now < end:
                for _ in range(8):
                    rank = rng.randrange(self.RANKS)
                    partner = self.PARTNERS[pattern](rng, rank)
                    times = ','.join(f'{now + t:.9f}' for t in (0, 2e-6, 0, 1e-5))
                    rows += [f'{rank},{partner},4096,{times}'] * (rank != partner)
                    now += rng.uniform(0.00002, 0.0005)
                now += 0.020 if rng.random() < 0.02 else 0
            runs.append((pattern, begin, now))
            now += rng.uniform(3, 9) if rng.random() < 0.15 else rng.uniform(0.35, 0.6)
        table, path = (os.path.join(self.place.dir, f'{seed}.{kind}') for kind in ('csv', 'hrec'))
        with open(table, 'w', encoding='utf-8') as out:
            out.write('\n'.join(rows) + '\n')
        finished = self.place.holter('import', table, '-o', path).finish()
        self.assertEqual(0, finished.status, finished)
        return path, runs

    def assert_are_runs(self, rows, runs, start):
        """Phases or columns begin and end where the runs do."""
        self.assertEqual(len(runs), len(rows))
        for row, (_, begin, end) in zip(rows, runs):
            self.assertAlmostEqual(begin, (row['begin_ns'] - start) / 1e9, delta=0.05)
            self.assertAlmostEqual(end, (row['end_ns'] - start) / 1e9, delta=0.05)

    def assert_is_curve(self, points, runs):
        """One level for each pattern; whatever returned resembles the first run with its pattern."""
        heights, first = {}, {}
        for number, (point, (pattern, _, _)) in enumerate(zip(points, runs), 1):
            self.assertEqual(self.COMMUNITIES[pattern], point['communities'])
            self.assertEqual(pattern in first, bool(point['returned']))
            self.assertEqual(heights.setdefault(pattern, point['height']), point['height'])
            if point['returned']:
                self.assertEqual(first[pattern], point['resembles'])
                self.assertGreaterEqual(point['resemblance'], 0.95)
            else:
                self.assertLess(point['resemblance'], 0.95)
            first.setdefault(pattern, number)

    def test_phases_and_pictures_are_the_runs_at_every_level(self):
        for seed in (1, 2, 3):
            with self.subTest(seed=seed):
                path, runs = self.make(seed)
                recorded = recording.Recording(path)
                phases, points = recorded.phases(), recorded.curve()
                start = phases[0]['begin_ns'] - runs[0][1] * 1e9
                self.assert_are_runs(phases, runs, start)
                self.assert_is_curve(points, runs)
                for phase, (pattern, _, _) in zip(phases, runs):
                    self.assertEqual(pattern == 'anybody', phase['modularity'] == 0)
                with commgram.Replay(self.place, path) as replay:
                    for communities in (1, 2, 16, 32):
                        columns = replay.picture('--phases', len(runs), '--communities', communities).columns
                        self.assert_are_runs(columns, runs, start)
                        self.assert_is_curve(columns, runs)
                        self.assertEqual([p['height'] for p in points], [c['height'] for c in columns])
                    for column in replay.picture('--phases', 24).columns:
                        begin, end = ((column[k] - start) / 1e9 for k in ('begin_ns', 'end_ns'))
                        self.assertTrue(any(run[1] - 0.05 <= begin <= end <= run[2] + 0.05 for run in runs), column)

    def test_a_table_without_times_is_one_phase_with_its_communities(self):
        """Two groups of eight ranks: each sends ten times as much within its group as to the other one."""
        table, path = (os.path.join(self.place.dir, name) for name in ('hops.txt', 'hops.hrec'))
        with open(table, 'w', encoding='utf-8') as out:
            for source, destination in itertools.permutations(range(16), 2):
                out.write(f'{source} {destination} {1000 if source // 8 == destination // 8 else 100} 1\n')
        finished = self.place.holter('import', '--format', 'hopbyte', table, '-o', path).finish()
        self.assertEqual(0, finished.status, finished)
        phases = recording.Recording(path).phases()
        self.assertEqual([16 * 15], [phase['messages'] for phase in phases])
        with commgram.Replay(self.place, path) as replay:
            column, = replay.picture('--communities', 2).columns
            self.assertEqual((16, 2, 2), (column['ranks'], column['communities'], column['bars']))
        info = self.place.holter('info', path).finish()
        self.assertIn('matched    none, 0 of 240 received', info.out)


class Live(unittest.TestCase):
    ITERATIONS, STEPS, IMAGES = 3, 7, 2

    def start(self, place, window='100ms'):
        return place.holter('run', '--window', window, '--', *lab.mpirun(
            'openmpi', 8, lab.program('insitu', 'openmpi'), self.ITERATIONS, self.STEPS, self.IMAGES, 400, 262144))

    def assert_without_seam(self, recorded):
        """Phases and curve hold all of the job, each phase once and none left open."""
        recorded.check()
        points, phases = recorded.curve(), recorded.phases()
        self.assertEqual(recorded.sums().total('sent'), sum(p['messages'] for p in phases))
        self.assertEqual(list(range(1, len(phases) + 1)), [p['id'] for p in phases])
        self.assertEqual([p['id'] for p in phases], [p['phase'] for p in points])
        self.assertFalse(any(p['open'] for p in phases) or any(p['provisional'] for p in points))

    def test_curve_of_a_simulation_that_draws_pictures(self):
        """Fig. 7 (a), live: long flat, drop, short flat, back up, three times. Two steps may be one phase at the begin,
        before the job's rhythm is known, and a busy machine may part one step in two."""
        with lab.Lab() as place:
            finished = self.start(place, window='1s').finish()
            self.assertEqual(0, finished.status, finished)
            recorded = place.recording()
            self.assert_without_seam(recorded)
            points = recorded.curve()
            sections = commgram.visits(points)
            low = sections[1][0]
            self.assertLess(low, 0, sections)
            self.assertEqual([0, low] * self.ITERATIONS, [height for height, _ in sections], points)
            for (_, steps), (_, images) in zip(sections[::2], sections[1::2]):
                self.assertTrue(self.STEPS - 2 <= steps <= self.STEPS + 2, sections)
                self.assertTrue(1 <= images <= self.IMAGES + 1, sections)

    def in_the_middle(self, disturb):
        """Run a job under an own daemon, disturb(place, daemon) once phases are recorded, which returns the daemon
        that lives on: the recording is of the whole job."""
        def phases():
            try:
                return sum(len(recording.Recording(path).phases()) for path in place.recordings()) > 2
            except sqlite3.OperationalError:
                return False  # there are no tables yet

        with lab.Lab() as place:
            daemon = place.daemon('--window', '100ms')
            job = self.start(place)
            lab.wait_for(lambda: phases() or not job.alive(), 'the first phases')
            self.assertTrue(job.alive(), job)
            daemon = disturb(place, daemon)
            finished = job.finish()
            self.assertEqual(0, finished.status, finished)
            daemon.kill(signal.SIGTERM)
            self.assertEqual(0, daemon.finish().status, daemon)
            self.assert_without_seam(place.recording())

    def test_a_killed_daemon_leaves_no_seam(self):
        def disturb(place, daemon):
            daemon.kill()
            daemon.finish()
            return place.daemon('--window', '100ms')

        self.in_the_middle(disturb)

    def test_a_killed_agent_leaves_no_seam(self):
        def disturb(place, daemon):
            os.kill(place.agents()[1], signal.SIGKILL)
            return daemon

        self.in_the_middle(disturb)


if __name__ == '__main__':
    lab.main()
