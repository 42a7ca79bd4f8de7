"""Two runs of a program, before and after: `holter compare`, and both recordings in the viewer."""
import contextlib
import json
import os
import re
import sqlite3
import unittest

import lab

PHASES = 12
STEPS = 8  # exchanges of a phase


class Runs(unittest.TestCase):
    """Eight ranks on a line of four nodes. The second run has its partners on neighbouring nodes, and is faster."""

    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)

    def path(self, name):
        return os.path.join(self.place.dir, name)

    def holter(self, *arguments, status=0):
        finished = self.place.holter(*map(str, arguments)).finish()
        self.assertEqual(status, finished.status, str(finished))
        return finished

    def record(self, name, pace_ns, partner, phases=PHASES):
        """A table of messages as a recording: every rank sends to its partner, a pause after each phase."""
        table = self.path(name + '.csv')
        with open(table, 'w', encoding='utf-8') as out:
            out.write('source,destination,bytes,send_begin,send_end,receive_begin,receive_end\n')
            for phase in range(phases):
                for step in range(STEPS):
                    for rank in range(8):
                        begin = (phase * 100 + step) * pace_ns
                        ends = [begin, begin + pace_ns // 8, begin, begin + pace_ns // 4]
                        size = 1000 * (1 + phase % 3)
                        out.write(f'{rank},{partner(rank)},{size},' + ','.join(f'{t / 1e9:.9f}' for t in ends) + '\n')
        recording = self.path(name + '.hrec')
        self.holter('import', table, '--topology', 'torus:4m', '--ranks-per-node', 2, '-o', recording)
        return recording

    def both(self):
        """In the first run each message crosses two links, in the second one."""
        return (self.record('before', 2000000, lambda rank: (rank + 4) % 8),
                self.record('after', 1000000, lambda rank: rank ^ 2))

    def compare(self, *arguments):
        return json.loads(self.holter('compare', '-f', 'json', *arguments).out)

    def test_runs_with_the_same_phases_are_compared_phase_by_phase(self):
        before, after = self.both()
        answer = self.compare(before, after, '-n', 100)
        figures = {f['name']: (f['before'], f['after']) for f in answer['figures']}
        self.assertEqual(('phase', 'run', [PHASES, PHASES], PHASES),
                         (answer['aligned'], answer['per'], answer['phases'], answer['matched']))
        bytes_sent = sum(8 * STEPS * 1000 * (1 + phase % 3) for phase in range(PHASES))
        self.assertEqual((bytes_sent, bytes_sent), figures['bytes'])
        self.assertEqual((PHASES * STEPS * 8,) * 2, figures['messages'])
        self.assertEqual((2 * bytes_sent, bytes_sent), figures['hop-bytes'])
        self.assertAlmostEqual(2, figures['duration'][0] / figures['duration'][1], delta=0.2)
        self.assertAlmostEqual(2, figures['50 % of messages after'][0] / figures['50 % of messages after'][1], delta=0.2)

    def test_what_a_recording_without_results_does_not_tell_is_not_known(self):
        before = self.record('before', 2000000, lambda rank: (rank + 4) % 8)
        after = self.path('bare.hrec')
        self.holter('import', self.path('before.csv'), '--topology', 'torus:4m', '--ranks-per-node', 2, '--no-results',
                    '-o', after)
        answer = self.compare(before, after)
        figures = {f['name']: f['after'] for f in answer['figures']}
        for name in ('duration', 'messages', 'bytes', 'messages a second', 'calls', 'records lost'):
            self.assertIsNone(figures[name], name)
        self.assertEqual('', answer['most'])
        self.assertRegex(self.holter('compare', before, after).out, r'messages +\d+ +- +-\n')

    def test_the_duration_is_the_time_in_which_ranks_were_there(self):
        """Not that of whole windows, in the first and last of which a job begins and ends somewhere."""
        before = self.record('before', 2000000, lambda rank: (rank + 4) % 8)
        after = self.record('after', 2000000, lambda rank: (rank + 4) % 8)
        with contextlib.closing(sqlite3.connect(before)) as db:
            db.execute('UPDATE totals SET absent_ns = 0')
            db.commit()
        with contextlib.closing(sqlite3.connect(after)) as db:
            length, = db.execute('SELECT length_ns FROM totals LIMIT 1').fetchone()
            db.execute('UPDATE totals SET absent_ns = 0')
            for end, share in ('min', 0.75), ('max', 0.5):
                db.execute(f'UPDATE totals SET absent_ns = 8 * {share} * {length} '
                           f'WHERE window = (SELECT {end}(window) FROM totals)')
            db.commit()
        figures = {f['name']: (f['before'], f['after']) for f in self.compare(before, after)['figures']}
        missing = length / 1e9
        self.assertAlmostEqual(1.25 * missing, figures['duration'][0] - figures['duration'][1])
        self.assertAlmostEqual(figures['messages'][1] / figures['duration'][1], figures['messages a second'][1])
        for share, less in (50, 0.75), (100, 1.25):
            reached = figures[f'{share} % of messages after']
            self.assertAlmostEqual(less * missing, reached[0] - reached[1])

    def test_a_window_in_which_no_rank_was_left_does_not_make_a_run_longer(self):
        before = self.record('before', 2000000, lambda rank: (rank + 4) % 8)
        after = self.path('after.hrec')
        with contextlib.closing(sqlite3.connect(before)) as database, database:
            database.execute('VACUUM INTO ?', (after,))
        with contextlib.closing(sqlite3.connect(after)) as database, database:
            row = dict(zip([c[1] for c in database.execute('PRAGMA table_info(totals)')],
                           database.execute('SELECT * FROM totals ORDER BY window DESC LIMIT 1').fetchone()))
            empty = {name: 0 for name in row} | {'window': row['window'] + 1, 'length_ns': row['length_ns'],
                                                 'start_ns': row['start_ns'] + row['length_ns']}
            database.execute(f'INSERT INTO totals({", ".join(empty)}) VALUES({", ".join("?" * len(empty))})',
                             tuple(empty.values()))
        figures = {f['name']: (f['before'], f['after']) for f in self.compare(before, after)['figures']}
        self.assertEqual(figures['duration'][0], figures['duration'][1])

    def test_imports_without_times_have_no_duration_and_no_rates(self):
        """Their one window, and its length, are made up."""
        recordings = []
        for name, more in ('before', ''), ('after', '1 2 50\n'):
            with open(self.path(name + '.txt'), 'w', encoding='utf-8') as out:
                out.write(f'0 1 100\n2 0 50\n{more}')
            recordings.append(self.path(name + '.hrec'))
            self.holter('import', self.path(name + '.txt'), '--topology', 'mesh:4', '-o', recordings[-1])
        answer = self.compare(*recordings)
        figures = {f['name']: (f['before'], f['after']) for f in answer['figures']}
        for name in ('duration', 'messages a second', 'bytes a second', 'time in MPI', 'time waiting'):
            self.assertEqual((None, None), figures[name], name)
        self.assertEqual(((150, 200), 'run'), (figures['bytes'], answer['per']))
        self.assertEqual([], [name for name in figures if 'of messages after' in name])
        text = self.holter('compare', *recordings).out
        self.assertNotIn('/s', text.replace(self.place.dir, ''))

    def test_ranks_are_counted_without_the_row_of_the_job(self):
        before = self.record('before', 1000000, lambda rank: rank ^ 2)
        with contextlib.closing(sqlite3.connect(before)) as db:
            db.execute('DELETE FROM job')
            db.commit()
        self.assertIn(f'before  {before}: job, 8 ranks, ', self.holter('compare', before, before).out)

    def test_messages_of_a_rank_to_itself_are_a_pair(self):
        before = self.record('before', 1000000, lambda rank: rank ^ 2)
        after = self.record('after', 1000000, lambda rank: rank if rank == 5 else rank ^ 2)
        pairs = {(int(p['source']), int(p['destination'])): (p['before'], p['after'])
                 for p in self.compare(before, after, '-n', 100)['pairs']}
        self.assertEqual((0, pairs[5, 7][0]), pairs[5, 5])
        self.assertEqual(0, pairs[5, 7][1])

    def test_links_and_pairs_are_exact_and_the_largest_difference_is_first(self):
        before, after = self.both()
        answer = self.compare(before, after, '-n', 100)
        each = sum(STEPS * 1000 * (1 + phase % 3) for phase in range(PHASES))
        pairs = {(int(p['source']), int(p['destination'])): (p['before'], p['after']) for p in answer['pairs']}
        self.assertEqual({(r, (r + 4) % 8) for r in range(8)}, {p for p, v in pairs.items() if v[0]})
        self.assertEqual({(r, r ^ 2) for r in range(8)}, {p for p, v in pairs.items() if v[1]})
        self.assertEqual({0, each}, {v for both in pairs.values() for v in both})
        links = {(x['from'], x['to']): (x['before'], x['after']) for x in answer['links']}
        self.assertEqual((4 * each, 0), links['(1)', '(2)'])  # ranks 0 to 3 sent over the middle
        self.assertEqual((2 * each, 2 * each), links['(0)', '(1)'])
        differences = [abs(x['after'] - x['before']) for x in answer['links']]
        self.assertEqual(sorted(differences, reverse=True), differences)

    def test_runs_that_do_other_things_are_compared_by_time(self):
        before = self.record('before', 2000000, lambda rank: (rank + 4) % 8)
        other = self.record('other', 1000000, lambda rank: 0 if rank else 1, phases=3)
        answer = self.compare(before, other)
        self.assertEqual(('time', 'second'), (answer['aligned'], answer['per']))
        self.assertEqual([], answer['durations'])

    def test_phases_by_other_groups_of_ranks_are_the_reason_why_none_matches(self):
        before, after = self.both()
        with contextlib.closing(sqlite3.connect(after)) as db, db:
            db.execute('UPDATE job SET rank_group = 4')
            db.execute('UPDATE phase SET ranks = ranks / 4, pairs = pairs / 4')
        answer = self.compare(before, after)
        self.assertEqual(('time', [1, 4]), (answer['aligned'], answer['rank_groups']))
        text = self.holter('compare', before, after).out
        self.assertIn('phases are of ranks before, by groups of 4 ranks after: they hardly match\n', text)
        self.assertNotIn('hardly match', self.holter('compare', before, before).out)

    def test_text_names_what_differs_most(self):
        before, after = self.both()
        text = self.holter('compare', before, after, '-n', 2).out
        self.assertIn(f'aligned by phase: {PHASES} of {PHASES} and {PHASES} phases match', text)
        self.assertRegex(text, r'differs most: .*; link \(\d\) -> \(\d\), .*; ranks \d -> \d, (gone|new)\n')
        self.assertRegex(text, r'\nduration +\S+ m?s +\S+ m?s +-\d\d\.\d\d %\n')
        self.assertIn('differs most: nothing', self.holter('compare', before, before).out)

    def show(self, before, after, *arguments):
        path = self.path('scene.txt')
        self.holter('view', before, after, '--snapshot', path, '--since-start', *arguments)
        with open(path, encoding='utf-8') as scene:
            return scene.read()

    def test_what_only_one_run_has_differs_where_nothing_else_does(self):
        before = self.record('before', 1000000, lambda rank: rank ^ 2)
        after = self.path('lossy.hrec')
        self.holter('cut', '-o', after, before)
        with contextlib.closing(sqlite3.connect(after)) as db, db:
            db.execute('UPDATE totals SET lost = 1000')
        self.assertEqual('', self.compare(before, before)['most'])
        self.assertEqual(('records lost', 'records lost'),
                         (self.compare(before, after)['most'], self.compare(after, before)['most']))
        self.assertIn('differs most: records lost, new\n', self.holter('compare', before, after).out)
        self.assertIn('differs most: records lost, gone\n', self.holter('compare', after, before).out)

    def test_the_viewer_shows_the_difference_of_two_recordings(self):
        before, after = self.both()
        for view in ('links', 'network', 'torus', 'routes', 'matrix'):
            with self.subTest(view):
                scene = self.show(before, after, '--view', view, '--size', '1900x900')
                for text in (f'aligned by phase, {PHASES} of {PHASES}', 'difference: before.hrec to after.hrec'):
                    self.assertTrue(text in scene, text)
        self.assertTrue(re.search(r'750\sKiB \S+ 0\sB, -100.0', self.show(before, after, '--view', 'links')))

    def test_the_viewer_shows_each_of_two_recordings(self):
        before, after = self.both()
        self.assertIn('before: before.hrec', self.show(before, after, '--view', 'links', '--compare', 'before'))
        self.assertIn('after: after.hrec', self.show(before, after, '--view', 'links', '--compare', 'after'))

    def test_the_viewer_shows_one_recording(self):
        before = self.record('before', 2000000, lambda rank: (rank + 4) % 8)
        path = self.path('scene.txt')
        self.holter('view', before, '--snapshot', path)
        with open(path, encoding='utf-8') as scene:
            text = scene.read()
        self.assertIn('replaying before.hrec', text)
        self.assertIn('8 ranks on ', text)
        self.assertIn('REPLAY ENDED', text)  # the picture is of the whole recording
        self.holter('view', before, before, before, '--snapshot', path, status=2)
        self.assertIn('absent.hrec', self.holter('view', before, self.path('absent.hrec'), status=1).err)

    def test_a_better_mapping_is_suggested_for_one_recording(self):
        before = self.record('before', 2000000, lambda rank: (rank + 4) % 8)
        path = self.path('scene.txt')
        self.holter('view', before, '--view', 'links', '--suggest', 'mapping', '--apply', '--snapshot', path)
        with open(path, encoding='utf-8') as scene:
            self.assertIn('suggestion 1: mapping', scene.read())

    def test_what_is_no_recording_is_refused(self):
        before = self.record('before', 2000000, lambda rank: (rank + 4) % 8)
        text = self.path('text')
        with open(text, 'w', encoding='utf-8') as out:
            out.write('0 1 1000\n')
        self.holter('compare', before, status=2)
        self.holter('compare', before, self.path('absent.hrec'), status=1)
        self.assertIn('is not a recording', self.holter('compare', before, text, '--topology', 'torus:4', status=1).err)


if __name__ == '__main__':
    lab.main()
