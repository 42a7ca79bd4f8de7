"""A real window, driven by mouse and keys: brush, suggest, show, compare, undo, save, and run with what was saved.

The window is on an X server without a screen (Xvfb); xdotool moves its mouse and presses its keys. What it shows is read
from the text of its scene, which the key S saves."""
import glob
import math
import os
import re
import unittest

import bed
import lab
import network_test

# A ring, of which the hosts have three links: messages from rank 0 to rank 2 have two ways of the same length.
TOPOLOGY = network_test.TOPOLOGY.replace('a line', 'a ring') + '  - [node4, node1]\n'
PAIRS = ['0-2', '1-2']  # of ranks; the loads grow, so that a brush soon holds a third route, of small messages
BYTES, PAUSE = 64 << 10, 20000  # of a message; microseconds between steps
SIZE = '1600x900'


class Scene:
    """The text of a scene: texts and hits with their places."""

    def __init__(self, text):
        self.panels = {name: (float(x), float(y)) for name, x, y in re.findall(
            r'^panel (\S+) (\S+),(\S+) ', text, re.MULTILINE)}
        self.size = tuple(float(n) for n in re.search(r'^scene (\d+)x(\d+)$', text, re.MULTILINE).groups())
        self.text = text
        self.texts = [(float(x), float(y), float(w), float(h), words) for x, y, w, h, words in re.findall(
            r'^  text (\S+),(\S+) (\S+)x(\S+) #[0-9a-f]+ (.*)$', text, re.MULTILINE)]
        self.hits = [(kind, float(x), float(y), float(w), float(h)) for kind, x, y, w, h in re.findall(
            r'^hit (\S+) (\S+),(\S+) (\S+)x(\S+) \d+ \d+$', text, re.MULTILINE)]

    def has(self, pattern):
        return any(re.search(pattern, words) for *_, words in self.texts)

    def place(self, words, number=0):
        """The middle of a text that is exactly these words."""
        x, y, w, h, _ = [text for text in self.texts if text[4] == words][number]
        return round(x + w / 2), round(y + h / 2)

    def overlaps(self):
        """Pairs of texts that lie upon each other, those of overlays left out."""
        plain = ''.join(part for part in re.split(r'^(?=panel )', self.text, flags=re.MULTILINE)
                        if not re.match(r'panel .* overlay$', part, re.MULTILINE))
        texts = [(float(x), float(y), float(w), float(h), words) for x, y, w, h, words in re.findall(
            r'^  text (\S+),(\S+) (\S+)x(\S+) #[0-9a-f]+ (.+)$', plain, re.MULTILINE)]
        return [(a[4], b[4]) for i, a in enumerate(texts) for b in texts[i + 1:]
                if min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0]) > 1 and min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1]) > 4]

    def area(self, kind):
        return next(hit[1:] for hit in self.hits if hit[0] == kind)


class Window:
    def __init__(self, place, directory, options=('--view', 'links', '--since-start'), first=r'Hot links', env=None, screen=SIZE,
                 size=SIZE):
        self.place, self.directory = place, directory
        self.server = place.start(lab.installed('Xvfb'), '-displayfd', 1, '-screen', 0, screen + 'x24', '-nolisten', 'tcp')
        number = lab.wait_for(lambda: self.server.out().strip() or not self.server.alive(), 'the X server')
        self.env = {'DISPLAY': f':{number}', 'SDL_VIDEODRIVER': 'x11'} | (env or {})
        self.view = place.holter('view', *options, '--size', size, env=self.env, cwd=directory)
        self.tool('search', '--sync', '--name', 'holter', 'windowfocus', '--sync')
        self.wait(first, 'the view')

    def tool(self, *words):
        finished = self.place.start(lab.installed('xdotool'), *words, env=self.env).finish()
        if finished.status != 0:
            raise AssertionError(finished)

    def server_window(self):
        return self.place.start(lab.installed('xdotool'), 'search', '--name', 'holter', env=self.env).finish().out.split()[-1]

    def libraries(self):
        """Files that the viewer's process has mapped."""
        pid = self.place.start(lab.installed('xdotool'), 'getwindowpid', self.server_window(), env=self.env).finish().out.strip()
        with open(f'/proc/{pid}/maps', encoding='utf-8') as f:
            return {os.path.basename(line.split()[-1]) for line in f if '/' in line}

    def scene(self):
        for path in glob.glob(os.path.join(self.directory, '*.txt')):
            os.unlink(path)
        self.tool('key', 'shift+s')
        path = lab.wait_for(lambda: glob.glob(os.path.join(self.directory, '*.txt')) or not self.view.alive(), 'a scene')
        if path is True:
            raise AssertionError(self.view)
        with open(path[0], encoding='utf-8') as f:
            return Scene(f.read())

    def wait(self, pattern, what, without=None):
        """@return the scene that has such a text, and none of the other kind"""
        def shown():
            scene = self.scene()
            return scene if scene.has(pattern) and not (without and scene.has(without)) else None
        return lab.wait_for(shown, what)

    def click(self, words, number=0):
        x, y = self.scene().place(words, number)
        self.tool('mousemove', x, y, 'click', 1)

    def brush(self, share):
        """Drag over the largest figures by rank, from the right edge to this share of their range."""
        x, y, w, h = self.scene().area('metric')
        self.tool('mousemove', round(x + w - 1), round(y + h / 2), 'mousedown', 1)
        self.tool('mousemove', round(x + w * 0.9), round(y + h / 2), 'mousemove', round(x + w * share), round(y + h / 2))
        self.tool('mouseup', 1)

    def close(self):
        self.tool('key', 'q')
        finished = self.view.finish()
        self.server.kill()
        self.server.finish()
        if finished.status != 0:
            raise AssertionError(finished)


class Replayed(unittest.TestCase):
    """Windows about a recording that is paused."""
    RECORDING = os.path.join(lab.SOURCE, 'docs', 'slow-link.hrec')

    def start_replay(self, place):
        """@return the daemon, the directory of the window"""
        directory = os.path.join(place.dir, 'window')
        os.mkdir(directory)
        endpoint = f'ipc://{os.path.join(place.run_dir, "replay.sock")}'
        place.env['HOLTER_DAEMON'] = endpoint
        daemon = place.holter('replay', '--paused', '--from', '85%', '-c', endpoint, self.RECORDING)
        asked = place.holter('replay', '--timeout', lab.PATIENCE, '--ask', 'settle').finish()
        self.assertEqual(0, asked.status, asked)
        return daemon, directory


class Rooms(Replayed):
    """Every place is reached by keys and by the mouse, in a replay of a job on four hosts whose network is a tree."""
    PLACES = {  # what the recording has data for; captures only once they were made
        1: ['overview', 'live'],
        2: ['commgram', 'matrix', 'pairs', 'ranks', 'calls', 'landscape'],
        3: ['alerts', 'regions', 'attribution', 'dependencies', 'captures', 'criteria'],
        4: ['links', 'network', 'torus', 'routes', 'what-if'],
        5: ['nodes', 'jobs', 'monitor'],
    }

    TABS = {
        'Overview': ['Overview', 'Over time'],
        'Communication': ['CommGram', 'Matrix', 'Pairs', 'Ranks', 'Calls', 'Metrics'],
        'Latency': ['Alerts', 'Regions', 'Attribution', 'Graph', 'Captures', 'Criteria'],
        'Network': ['Links', 'Network', 'Topology', 'Routes', 'What-if'],
        'System': ['Nodes', 'Jobs', 'Monitor'],
    }

    def view(self, window, name):
        """Wait until a place is shown."""
        def shown():
            scene = window.scene()
            return scene if f'view.{name}' in scene.panels else None
        return lab.wait_for(shown, f'the place {name}')

    def walk(self, window):
        for room, places in self.PLACES.items():
            for name in places:
                if (room, name) != (1, 'overview'):
                    window.tool('key', str(room))
                scene = self.view(window, name)
            self.assertNotIn('Torus', [text[4] for text in scene.texts if text[1] < 80], 'the network is a tree')
        window.tool('key', '5')  # around
        self.view(window, 'nodes')
        window.tool('key', '2')  # a room opens its last place
        self.view(window, 'landscape')

    def walk_with_the_mouse(self, window):
        """The rail leads to the rooms, the tabs to their places; the status line has the address of each."""
        for number, (room, tabs) in enumerate(self.TABS.items(), 1):
            window.click(room)
            for tab, name in zip(tabs, self.PLACES[number]):
                scene = window.scene()
                x, y = next((round(x + w / 2), round(y + h / 2)) for x, y, w, h, words in scene.texts
                            if words == tab and y < 80)
                window.tool('mousemove', x, y, 'click', 1)
                scene = self.view(window, name)
                self.assertTrue(scene.has(f'^{room.lower()}(/|$)'), f'the address of {name}')

    def back_and_forward(self, window):
        window.tool('key', 'BackSpace')
        self.view(window, 'nodes')
        window.tool('key', 'alt+Left')
        self.view(window, 'monitor')
        window.tool('key', 'alt+Right')
        scene = self.view(window, 'nodes')
        self.assertTrue(scene.has(r'^system$'), 'the address')

    def focus(self, window):
        """Tab reaches the rail's first room, and Enter opens it."""
        for _ in range(40):
            window.tool('key', 'Tab')
            scene = window.scene()
            x, y = scene.panels['focus']
            if x < 5 and y < scene.place('Communication')[1] - 40:
                break
        window.tool('key', 'Return')
        self.view(window, 'live')  # the last place of that room

    def test_every_place_is_reached_by_keys_and_by_the_mouse(self):
        with lab.Lab() as place:
            daemon, directory = self.start_replay(place)
            wrong = place.holter('view', '--at', 'latency/lobby').finish()
            self.assertEqual(2, wrong.status, wrong)
            self.assertIn("room 'latency' has no place 'lobby'", wrong.err)
            window = Window(place, directory, (), r'^node3: ', {'XDG_STATE_HOME': place.dir})
            self.assertTrue(window.scene().has('^understood$'))
            window.click('understood')
            window.wait(r'^What to do$', 'the overview', without='^understood$')
            self.walk(window)
            self.back_and_forward(window)
            self.focus(window)
            self.walk_with_the_mouse(window)
            window.close()
            self.assertTrue(os.path.exists(os.path.join(place.dir, 'holter', 'view-seen')))
            daemon.kill(2)
            self.assertEqual(0, daemon.finish().status)


class Spans(unittest.TestCase):
    """Windows about the span of a long job, the state of which comes in many messages."""
    WINDOWS = 4000  # a second each

    def import_job(self, place):
        """@return the recording"""
        table, recording = os.path.join(place.dir, 'long.csv'), os.path.join(place.dir, 'long.hrec')
        with open(table, 'w', encoding='utf-8') as f:
            f.write('source,destination,bytes,send_begin\n')
            for window in range(self.WINDOWS):
                f.write(f'{window % 2},{1 - window % 2},1000,{window}.5\n')
        done = place.holter('import', '--window', '1s', '-o', recording, table).finish()
        self.assertEqual(0, done.status, done)
        return recording

    def test_the_span_that_was_asked_for_is_shown_from_the_first_figures_on(self):
        with lab.Lab() as place:
            directory = os.path.join(place.dir, 'window')
            os.mkdir(directory)
            place.env['HOLTER_DAEMON'] = f'ipc://{os.path.join(place.run_dir, "replay.sock")}'
            daemon = place.holter('replay', self.import_job(place))
            lab.wait_for(lambda: ' ended ' in place.holter('replay', '--timeout', lab.PATIENCE, '--ask', '').finish().out,
                         'the end of the replay')
            # addresses count from the begin, at 22:13:20
            window = Window(place, directory, ('--at', 'communication/pairs?from=3620&to=3680'), r'^held: ', {'TZ': 'UTC'})
            self.assertTrue(window.scene().has('^held: 23:13:40 to 23:14:40$'), window.scene().text)
            window.close()
            daemon.kill(2)
            self.assertEqual(0, daemon.finish().status)


class Hands(Replayed):
    """What mouse and keyboard send, beyond letters and plain clicks."""

    def span(self, window):
        """Seconds of the visible time, which has no more than those of a minute."""
        found = (re.search(r'^(?:last|whole time,) ([0-9.]+)\s*s$', text[4]) for text in window.scene().texts)
        return next(float(span[1]) for span in found if span)

    def test_a_key_of_the_number_pad_zooms_as_much_as_the_other(self):
        with lab.Lab() as place:
            daemon, directory = self.start_replay(place)
            window = Window(place, directory, ('--view', 'pairs'), r'^whole time, ')
            spans = []
            for key in 'plus', 'KP_Add':
                window.tool('key', '0')
                window.wait(r'^whole time, ', 'the whole time')
                window.tool('key', key)
                window.wait(r'^last ', 'a part of it')
                spans.append(self.span(window))
            self.assertEqual(spans[0], spans[1])
            window.close()
            daemon.kill(2)
            self.assertEqual(0, daemon.finish().status)

    def test_a_drag_with_ctrl_draws_a_lasso_around_what_crosses_it(self):
        with lab.Lab() as place:
            daemon, directory = self.start_replay(place)
            window = Window(place, directory, ('--view', 'network'), r'^widest line ')
            x, y, w, h = window.scene().area('network')
            corners = [(0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98), (0.02, 0.05)]
            window.tool('keydown', 'ctrl', 'mousemove', *[round(n) for n in (x + corners[0][0] * w, y + corners[0][1] * h)],
                        'mousedown', 1)
            for across, down in corners[1:]:
                window.tool('mousemove', round(x + across * w), round(y + down * h))
            window.tool('mouseup', 1, 'keyup', 'ctrl')
            window.wait(r'^only [0-9]+ routes picked', 'the lasso')
            window.close()
            daemon.kill(2)
            self.assertEqual(0, daemon.finish().status)


class Sizes(Replayed):
    """A window that is dragged from the size of a laptop's corner to a large screen and back."""
    SIZES = (640, 400), (1024, 640), (1600, 900), (3840, 2160), (640, 400)

    def drag(self, window, scale):
        wid = window.server_window()
        for (w0, h0), (w1, h1) in zip(self.SIZES, self.SIZES[1:]):
            steps = [(w0 + (w1 - w0) * i // 6, h0 + (h1 - h0) * i // 6) for i in range(1, 7)]
            window.tool(*[word for w, h in steps for word in ('windowsize', wid, w, h)])
            used = min(scale, max(1, min(w1 / 800, h1 / 500)))  # letters do not become larger than a small window holds
            size = w1 / used, h1 / used
            scene = lab.wait_for(lambda: next((s for s in (window.scene(),) if math.dist(s.size, size) < 1), None),
                                 f'{w1}x{h1}')
            self.assertTrue(scene.has(r'^node3: '), f'the verdict at {w1}x{h1}, scale {scale}')
            self.assertEqual([], scene.overlaps(), f'{w1}x{h1}, scale {scale}')

    def test_the_verdict_stays_and_texts_stay_apart(self):
        with lab.Lab() as place:
            daemon, directory = self.start_replay(place)
            for scale in (1, 3):
                window = Window(place, directory, ('--scale', scale), r'^node3: ', screen='3840x2160')
                # its pixels are shown without OpenGL, which takes longer to load than the first picture
                self.assertEqual([], [name for name in window.libraries() if name.startswith(('libGL.', 'libLLVM'))])
                self.drag(window, scale)
                window.tool('key', 'ctrl+c')
                window.wait(r'^copied as text: [1-9]', 'the clipboard')
                window.tool('key', 'ctrl+p')
                lab.wait_for(lambda: glob.glob(os.path.join(directory, '*-page.png')), 'the page')
                window.close()
            daemon.kill(2)
            self.assertEqual(0, daemon.finish().status)


class WhatIf(unittest.TestCase):
    def run_job(self, place, hosts, name, placing, steps):
        control = os.path.join(place.dir, name)
        os.mkdir(control)
        network = os.path.join(place.dir, 'ring.yaml')
        with open(network, 'w', encoding='utf-8') as f:
            f.write(TOPOLOGY)
        job = place.holter('run', '--window', '200ms', '--topology', network, '--', *hosts.openmpi(placing=placing), '-n', 4,
                           lab.program('bulk', 'openmpi'), control, BYTES, PAUSE, *PAIRS)
        lab.wait_for(lambda: not job.alive() or place.ranks_seen() == 4, 'all ranks')
        self.assertTrue(job.alive(), job)
        links = network_test.Links(place)
        links.wait(lambda l: len(l.windows) > steps, 'the first windows')
        return job, links, control

    def end(self, job, links, control):
        with open(os.path.join(control, 'end'), 'w', encoding='utf-8'):
            pass
        finished = job.finish()
        self.assertEqual(0, finished.status, finished)
        links.tap.finish()

    def routes(self, window):
        """Brush the most loaded link, and reroute what crosses it."""
        scene = window.wait(r'For all [2-9] routes', 'the subject without a brush')
        self.assertTrue(scene.has(r'has the top load'))
        window.brush(0.6)
        window.wait(r'For the [23] of [2-9] routes that are in sight', 'the brushed routes')
        window.click('Suggest routes')
        scene = window.wait(r'[12] of [23] routes better', 'better routes')
        several = scene.has(r'2 of [23] routes better')
        self.assertTrue(scene.has(r'heaviest link -[\d.]+.%' + (' on average' if several else '$')))
        window.click('Show it')
        scene = window.wait(r'^suggestion 1: routes; ', 'the state with these routes')
        self.assertTrue(scene.has(r'^Largest load .* -\d'))
        window.click('difference')
        window.wait(r'^suggestion 1: routes, difference from the reality', 'the difference')
        window.click('before')
        window.wait(r'^reality, before suggestion 1: routes', 'the reality')
        window.tool('key', 'u')
        window.wait(r'only [23] routes picked', 'what was brushed', without='suggestion 1')
        window.tool('key', 'Escape')

    def mapping(self, window):
        """@return path of the mapping that was saved"""
        window.wait(r'Hot links', 'no brush', without=r'^only ')
        window.click('Suggest mapping')
        window.wait(r'^(for|none has) less hop-bytes', 'a better mapping')
        window.click('Show it')
        window.wait(r'^suggestion 1: mapping; ', 'the state with this mapping')
        window.click('Save')
        window.wait(r'mapping saved: mpirun --rankfile \S+\.openmpi', 'the file')
        saved = glob.glob(os.path.join(window.directory, 'holter-*.openmpi'))
        self.assertEqual(1, len(saved), os.listdir(window.directory))
        return saved[0]

    def test_brush_suggest_show_compare_undo_save_and_run(self):
        with lab.Lab() as place, bed.Bed(place, 4, line=True) as hosts:
            directory = os.path.join(place.dir, 'window')
            os.mkdir(directory)
            job, links, control = self.run_job(place, hosts, 'first', ('--map-by', 'node'), 4)
            before = dict(links.seats)
            for size in ('1024x640', SIZE):  # the mouse counts from the corner of the screen
                window = Window(place, directory, screen=size, size=size)
                self.routes(window)
                saved = self.mapping(window)
                window.close()
            self.end(job, links, control)
            job, links, control = self.run_job(place, hosts, 'second', ('--rankfile', saved), 2)
            self.assertNotEqual(before, links.seats)
            with open(saved, encoding='utf-8') as f:
                wanted = dict(re.findall(r'^rank (\d+)=(\S+) ', f.read(), re.MULTILINE))
            self.assertEqual({int(rank): host for rank, host in wanted.items()}, links.seats)
            self.end(job, links, control)
            place.check_clean()


if __name__ == '__main__':
    lab.main(network=True)
