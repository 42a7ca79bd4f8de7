"""Pictures of a running job, without a display."""
import contextlib
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import unittest

import lab

# What each view says of any job.
VIEWS = {
    'live': 'Latency by region',
    'commgram': 'Pattern of communication',
    'regions': 'Regions',
    'alerts': 'Alerts',
    'captures': 'Captures',
    'matrix': 'Each cell is one pair of ranks.',
}


def png_size(path):
    """Width and height, from the file's header."""
    with open(path, 'rb') as f:
        head = f.read(24)
    if head[:8] != b'\x89PNG\r\n\x1a\n' or head[12:16] != b'IHDR':
        raise AssertionError(f'{path} is no PNG file')
    return struct.unpack('>II', head[16:24])


class Pictures(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)

    def snapshot(self, name, *arguments):
        path = os.path.join(self.place.dir, name)
        finished = self.place.holter('view', '--snapshot', path, '--after', '1', *arguments).finish()
        self.assertEqual(0, finished.status, finished)
        return path

    def test_a_picture_does_not_take_the_place_of_a_device(self):
        null = os.path.join(self.place.dir, 'null')
        os.symlink('/dev/null', null)
        recording = os.path.join(lab.SOURCE, 'docs', 'slow-link.hrec')
        finished = self.place.holter('view', '--snapshot', null, recording).finish()
        self.assertEqual(0, finished.status, finished)
        self.assertEqual('/dev/null', os.readlink(null))

    def test_a_time_that_the_job_does_not_have_is_reported(self):
        recording = os.path.join(lab.SOURCE, 'docs', 'slow-link.hrec')
        path = os.path.join(self.place.dir, 'none.png')
        for span in (['--from', '100', '--to', '200'], ['--to', '-60'], ['--from', '30', '--to', '-30']):
            finished = self.place.holter('view', '--snapshot', path, *span, recording).finish()
            self.assertEqual(1, finished.status, finished)
            self.assertIn('43.5 s long', finished.err)
            self.assertFalse(os.path.exists(path))

    def test_a_recording_that_cannot_be_replayed_is_reported_in_one_line(self):
        recording = os.path.join(self.place.dir, 'newer.hrec')
        shutil.copy(os.path.join(lab.SOURCE, 'docs', 'slow-link.hrec'), recording)
        with contextlib.closing(sqlite3.connect(recording)) as db:
            db.execute('PRAGMA user_version = 1000')
        path = os.path.join(self.place.dir, 'none.png')
        finished = self.place.holter('view', '--snapshot', path, recording).finish()
        self.assertEqual(1, finished.status, finished)
        self.assertRegex(finished.err, r'\Aholter: view: .*newer\.hrec cannot be replayed: .*newer version of Holter.*\n\Z')

    def test_every_view_of_a_running_job_in_the_size_that_was_asked_for(self):
        control = os.path.join(self.place.dir, 'control')
        os.mkdir(control)
        job = self.place.holter('run', '--window', '200ms', '--', *lab.mpirun(
            'openmpi', 4, lab.program('steps', 'openmpi'), control, 1000, 2000))
        lab.wait_for(lambda: self.place.ranks_seen() == 4 or not job.alive(), 'the ranks')
        self.assertTrue(job.alive(), job)
        for view, words in VIEWS.items():
            with self.subTest(view=view):
                self.assertEqual((1600, 900), png_size(self.snapshot(view + '.png', '--view', view)))
                with open(self.snapshot(view + '.txt', '--view', view), encoding='utf-8') as f:
                    text = f.read()
                self.assertIn(words, text)
                self.assertIn('4 ranks', text)
        self.assertEqual((3840, 2160), png_size(self.snapshot('twice.png', '--size', '3840x2160', '--scale', '2')))
        with open(os.path.join(control, 'end'), 'w', encoding='utf-8'):
            pass
        self.assertEqual(0, job.finish().status, job)
        self.place.check_clean()

    def replay(self, source, *arguments):
        """Serve what an import of a file of the test data gives."""
        text, recording = (os.path.join(self.place.dir, name) for name in ('source.txt', 'source.hrec'))
        with open(text, 'wb') as out:
            subprocess.run(['zstd', '-dqc', os.path.join(lab.SOURCE, 'tests', 'data', source + '.zst')], stdout=out,
                           check=True)
        imported = self.place.holter('import', *arguments, '-o', recording, text).finish()
        self.assertEqual(0, imported.status, imported)
        self.place.env['HOLTER_DAEMON'] = f'ipc://{self.place.dir}/replay.sock'
        replay = self.place.holter('replay', recording)
        lab.wait_for(lambda: self.place.status() or not replay.alive(), 'the replay')
        self.assertTrue(replay.alive(), replay)

    def texts(self, name, *arguments):
        """What the scene says, in the order in which it is drawn."""
        with open(self.snapshot(name + '.txt', *arguments), encoding='utf-8') as f:
            return re.findall(r'^  text \S+ \S+ #[0-9a-f]+ (.*)$', f.read(), re.MULTILINE)

    def test_hot_links_with_a_better_mapping_and_better_routes(self):
        self.replay('par-comm-data/hopbyte/MiniAMR_Vesta_n64_c1_s2_hopbyte.txt', '--format', 'hopbyte', '--topology',
                    'torus:2,2,4,2,2')
        links = ('--view', 'links')
        plain = self.texts('plain', *links)
        hottest = next(text for text in plain if re.fullmatch(r'\(\S+\) \u2192 \(\S+\)', text))
        self.assertNotIn('Undo', plain)
        suggested = self.texts('suggested', *links, '--suggest', 'mapping:max-link', '--suggest', 'routes', '--select',
                               'link:' + hottest.replace(' \u2192 ', '-'))
        self.assertIn('clear', suggested)
        self.assertEqual(2, suggested.count('Show it'))
        # the gain of the mapping by its objective comes first
        before, after = next(filter(lambda text: re.fullmatch(r'[\d.]+\s[KM]iB \u2192 [\d.]+\s[KM]iB', text),
                                    suggested)).split(' \u2192 ')
        self.assertLess(float(after.split()[0]), float(before.split()[0]))
        applied = self.texts('applied', *links, '--suggest', 'mapping:max-link', '--apply')
        self.assertIn('Undo', applied)
        self.assertIn('step 1, in all views now', applied)
        self.assertIn(before, plain)  # the largest load of the list
        self.assertIn(after, applied)
        self.assertEqual((1600, 900), png_size(self.snapshot('links.png', *links, '--suggest', 'routes')))

    def test_options_that_name_a_daemon_go_before_a_fleet_in_the_environment(self):
        env = {'HOLTER_DAEMON': 'nats://127.0.0.1:1/c', 'HOLTER_SSH': '/bin/false'}
        for words, why in ((['--ssh', 'login1'], 'ssh login1 failed'), (['--ss=login1'], 'ssh login1 failed'),
                           (['--conn', 'bad://d'], 'bad://d'), (['--con=bad://d'], 'bad://d'), (['-cbad://d'], 'bad://d'),
                           ([], 'nats://127.0.0.1:1')):
            with self.subTest(words=words):
                finished = self.place.holter('view', '--snapshot', os.path.join(self.place.dir, 'none.png'), *words, env=env).finish()
                self.assertNotEqual(0, finished.status, finished)
                self.assertIn(why, finished.err)

    def test_what_cannot_be_selected_is_reported(self):
        self.replay('par-comm-data/hopbyte/MiniAMR_Vesta_n64_c1_s2_hopbyte.txt', '--format', 'hopbyte', '--topology',
                    'torus:2,2,4,2,2')
        for what in ('rank:64', 'link:(0,0,0,0,0)-(1,1,0,0,0)', 'vertex:nowhere'):
            path = os.path.join(self.place.dir, 'none.png')
            finished = self.place.holter('view', '--snapshot', path, '--after', '1', '--select', what).finish()
            self.assertEqual(1, finished.status, finished)
            self.assertIn(what, finished.err)
            self.assertFalse(os.path.exists(path))


if __name__ == '__main__':
    lab.main()
