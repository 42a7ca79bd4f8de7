"""Pictures of a running job, without a display."""
import os
import struct
import unittest

import lab

# What each view says of any job.
VIEWS = {
    'live': 'Latency by region',
    'commgram': 'Pattern of communication',
    'regions': 'Regions',
    'alerts': 'Alerts',
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


if __name__ == '__main__':
    lab.main()
