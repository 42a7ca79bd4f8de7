"""What Holter says of a job with a partial fault: the culprit, and the same figure everywhere."""
import csv
import http.server
import json
import math
import os
import random
import re
import threading
import unittest

import commgram
import lab
import stream

SIDE = 4  # ranks of an edge of the cube
RANKS, PER_NODE = SIDE ** 3, 4
WINDOWS, ONSET, WINDOW = 40, 20, 0.5  # seconds
BEGIN = 1700001000
INTRA, INTER = 2e-6, 15e-6  # seconds in flight
HEADER = 'source', 'destination', 'bytes', 'send_begin', 'send_end', 'receive_begin', 'receive_end'


def node(rank):
    return rank // PER_NODE


def neighbours(rank):
    """All ranks around one in a periodic cube."""
    x, y, z = rank % SIDE, rank // SIDE % SIDE, rank // SIDE ** 2
    steps = [(dx, dy, dz) for dx in (-1, 0, 1) for dy in (-1, 0, 1) for dz in (-1, 0, 1)]
    return {(x + dx) % SIDE + SIDE * ((y + dy) % SIDE) + SIDE ** 2 * ((z + dz) % SIDE) for dx, dy, dz in steps} - {rank}


def table(path, seed, slower=lambda source, destination, window: 1, late=None, burst=()):
    """Write the messages of a job: one a window from each rank to each neighbour.
    slower: factor of the time in flight; late: a rank whose ends of messages come 100 us late from the onset on;
    burst: windows in which all ranks exchange messages with all others besides"""
    draw = random.Random(seed)
    pairs = [(s, d) for s in range(RANKS) for d in sorted(neighbours(s))]
    typical = {p: math.log(INTRA if node(p[0]) == node(p[1]) else INTER) + draw.gauss(0, 0.2) for p in pairs}
    with open(path, 'w', newline='') as out:
        rows = csv.writer(out)
        rows.writerow(HEADER)

        def write(s, d, size, w, flight):
            sent = BEGIN + w * WINDOW + draw.random() * 0.9 * WINDOW
            posted = sent + draw.gauss(0, 5e-6)
            if late is not None and w >= ONSET:
                sent, posted = sent + 1e-4 * (s == late), posted + 1e-4 * (d == late)
            rows.writerow((s, d, size, *(f'{t:.9f}' for t in (sent, sent + 1e-6, posted, max(sent, posted) + flight))))

        for w in range(WINDOWS):
            for s, d in pairs:
                flight = math.exp(typical[s, d] + draw.gauss(0, 0.4))
                write(s, d, 1024, w, flight * (slower(s, d, w) if node(s) != node(d) else 1))
            for s in range(RANKS if w in burst else 0):
                for d in set(range(RANKS)) - {s}:
                    write(s, d, 65536, w, math.exp(math.log(6e-5) + draw.gauss(0, 0.4)))
    return path


class Verdicts(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)
        self.recording = os.path.join(self.place.dir, 'job.hrec')

    def holter(self, *arguments):
        finished = self.place.holter(*map(str, arguments)).finish()
        self.assertEqual(0, finished.status, str(finished))
        return finished

    def alerts(self, seed, **fault):
        """Import a job. @return alerts that fired, as its replay publishes them at the end"""
        source = table(os.path.join(self.place.dir, 'messages.csv'), seed, **fault)
        self.holter('import', '--format', 'csv', '--window', f'{WINDOW * 1000:.0f}ms', '--ranks-per-node', PER_NODE,
                    '-o', self.recording, source)
        with commgram.Replay(self.place, self.recording) as replay:
            published = {m['id']: m for m in lab.stream_messages(replay.topics('alerts')) if m['topic'] == 'alerts'}
        return [m for _, m in sorted(published.items()) if m.get('fired_ns')]

    def check_culprit(self, kind, names, cause, **fault):
        alerts = self.alerts(**fault)
        self.assertEqual([(kind, names, cause)],
                         [(a['culprit'], a['culprits'], a['causes'][0]['name']) for a in alerts], alerts)
        onset = (alerts[0]['onset_ns'] / 1e9 - BEGIN) / WINDOW
        self.assertLessEqual(abs(onset - ONSET), 1.01, alerts)
        return alerts[0]

    def test_a_node_whose_messages_are_slow_is_named(self):
        alert = self.check_culprit('node', 'n5', 'network', seed=1,
                                   slower=lambda s, d, w: 5 if w >= ONSET and 5 in (node(s), node(d)) else 1)
        self.assertEqual('20-23', alert['ranks'], alert)
        self.assertTrue(4 < alert['ratio'] < 6 and alert['ratio'] <= alert['ratio_worst'], alert)

    def test_two_nodes_with_slow_messages_between_them_are_named(self):
        self.check_culprit('node-pair', 'n2 and n6', 'network', seed=2,
                           slower=lambda s, d, w: 10 if w >= ONSET and {node(s), node(d)} == {2, 6} else 1)

    def test_slow_messages_between_all_nodes_are_one_alert(self):
        self.check_culprit('inter-node', '', 'background', seed=3, slower=lambda s, d, w: 1.6 if w >= ONSET else 1)

    def test_a_rank_that_comes_late_is_named(self):
        alert = self.check_culprit('rank', '17', 'late-sender', seed=4, late=17)
        self.assertIn('rank 17 ', alert['title'])

    def test_a_calm_job_and_a_pattern_that_changes_raise_nothing(self):
        self.assertEqual([], self.alerts(seed=5))
        os.unlink(self.recording)
        self.assertEqual([], self.alerts(seed=6, burst=(ONSET, ONSET + 1)))

    def test_all_outputs_show_the_same_figures(self):
        self.alerts(seed=7, slower=lambda s, d, w: 1 if 5 not in (node(s), node(d)) or w < ONSET
                    else 9 if w < ONSET + 8 else 4)
        endpoint = self.place.env['HOLTER_DAEMON'] = f'ipc://{os.path.join(self.place.run_dir, "replay.sock")}'
        daemon = self.place.holter('replay', '--paused', '-c', endpoint, self.recording)
        self.addCleanup(daemon.kill, 9)
        for place, state in ((f'+{(ONSET + 4) * WINDOW:.1f}s', 'firing'), ('100%', 'resolved')):
            with self.subTest(state):
                self.holter('replay', '--timeout', lab.PATIENCE, '--ask', f'seek {place}')
                alert, = lab.stream_messages(self.one_alert('-f', 'json'))
                self.assertEqual(state, alert['state'], alert)
                self.check_texts(alert, self.one_alert(), self.holter('top', '--once').out)
                self.check_viewer(alert)
                self.check_ratios(alert, self.holter('status').out)
        report = os.path.join(self.place.dir, 'report.html')
        self.holter('report', '-o', report, self.recording)
        with open(report) as page:
            self.check_measure(alert, page.read())
        self.assertIn(alert['title'], self.holter('info', self.recording).out)
        self.check_ratios(alert, self.holter('info', self.recording).out)

    def scene(self, view):
        """The texts of a view, in the order in which they are drawn; a title of several lines is several texts."""
        path = os.path.join(self.place.dir, f'{view}.txt')
        self.holter('view', '--snapshot', path, '--after', '1', '--size', '2400x1200', '--view', view)
        with open(path, encoding='utf-8') as f:
            return ' '.join(re.findall(r'^  text \S+ \S+ #[0-9a-f]+ (.*)$', f.read(), re.MULTILINE))

    def check_viewer(self, alert):
        """The card beside each view, the strip and its graph below, and the list of alerts."""
        now, worst = times(alert['ratio']), times(alert['ratio_worst'])
        over = alert['state'] == 'resolved'
        for view in ('live', 'overview', 'alerts', 'ranks'):
            text = self.scene(view)
            flag = over and view == 'overview'  # which has the culprit, without figures
            self.assertIn(alert['title'].partition(':' if flag else ';')[0], text)
            said = re.findall(r'messages (take|took up to) ([0-9.]+x) as long', text)
            expected = set() if flag else {('took up to', worst) if over else ('take', now)}
            self.assertEqual(expected, set(said), f'{view}: {text}')
            for figure in re.findall('([0-9.]+x) what it was', text):
                self.assertEqual(worst if over else now, figure, f'{view}: {text}')
            for figure in re.findall('\\bworst ([0-9.]+x)', text):
                self.assertEqual(worst, figure, f'{view}: {text}')
            for figure in re.findall('\\bnow ([0-9.]+x)', text):
                self.assertEqual(now, figure, f'{view}: {text}')
            if view == 'alerts' or (view in ('live', 'ranks') and not over):
                self.assertIn(f'{worst} what it was at worst' if over else f'{now} what it was, at worst {worst}', text)

    def check_ratios(self, alert, text):
        """Whatever figure of this kind stands in the text is one of the alert's."""
        self.assertLessEqual(set(re.findall(r'\b[0-9.]+x\b', text)), {times(alert[k]) for k in ('ratio', 'ratio_worst')},
                             text)

    def one_alert(self, *options):
        return self.holter('tap', '--topic', 'alerts', '--count', 1, *options).out

    def check_texts(self, alert, tap, top):
        now, worst = times(alert['ratio']), times(alert['ratio_worst'])
        over = alert['state'] == 'resolved'
        self.assertIn(f'took up to {worst} as long' if over else f'take {now} as long', alert['title'])
        for text in (tap, top):
            self.assertIn(alert['title'][:22], text)
        self.assertIn(f' worst {worst} ' if over else f' now {now} ', top)
        self.check_measure(alert, tap)
        self.assertRegex(alert['text'], f'messages[a-z ]* take {now} as long as before, at worst {worst};')
        self.assertEqual({now, worst}, set(re.findall('[0-9.]+x', ' '.join((alert['title'], alert['text'], tap)))))

    def check_measure(self, alert, text):
        self.assertIn(f'{times(alert["ratio"])} what it was, at worst {times(alert["ratio_worst"])}', text)


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes alerts as Alertmanager does, and keeps them in its server's list."""

    def do_POST(self):
        self.server.alerts += json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


class Deliveries(unittest.TestCase):
    """A rank computes longer. Whatever else disturbs the job on a busy machine, all that is said is the same."""
    RANKS = 4

    def setUp(self):
        self.place = lab.Lab()
        self.place.__enter__()
        self.addCleanup(self.place.close)
        self.receiver = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Receiver)
        self.receiver.alerts = []
        threading.Thread(target=self.receiver.serve_forever, daemon=True).start()
        self.addCleanup(self.receiver.server_close)
        self.addCleanup(self.receiver.shutdown)

    def run_until_alert(self):
        control = os.path.join(self.place.dir, 'control')
        os.mkdir(control)
        job = self.place.holter('run', '--window', '200ms', '--alertmanager',
                                f'http://127.0.0.1:{self.receiver.server_port}', '--',
                                *lab.mpirun('openmpi', self.RANKS, lab.program('steps', 'openmpi'), control, 1000, 4000))
        lab.wait_for(lambda: self.place.ranks_seen() == self.RANKS or not job.alive(), 'the ranks')
        published = stream.Stream(self.place)
        published.wait_windows(25)
        open(os.path.join(control, 'slow.1'), 'w').close()
        published.wait(lambda s: s.of_kind('latency'), 'an alert')
        lab.wait_for(lambda: self.receiver.alerts or not job.alive(), 'a delivery')
        open(os.path.join(control, 'end'), 'w').close()
        finished = job.finish()
        self.assertEqual(0, finished.status, finished)
        published.tap.finish()
        return finished, [m for messages in published.read().of_kind('latency').values() for m in messages]

    def test_what_is_delivered_has_the_figures_of_the_published_alert(self):
        finished, published = self.run_until_alert()
        texts = {(m['title'], m['text']): m for m in published}
        delivered = [a['annotations'] for a in self.receiver.alerts if a['labels']['kind'] == 'latency']
        self.assertTrue(delivered)
        for a in delivered:
            m = texts[a['summary'], a['description']]
            self.assertEqual((times(m['ratio']), times(m['ratio_worst']), f"{100 * m['progress']:.0f}%"),
                             (a['ratio'], a['ratio_worst'], a['progress']), m)
        lines = re.findall(r'^holter: (?:alert \(\w+\)|over after [^:]*): (.* as long.*)$', finished.out + finished.err,
                           re.MULTILINE)
        self.assertTrue(lines, finished)
        titles = {m['title'] for m in published}
        for line in lines:
            self.assertTrue(any(title in line for title in titles), (line, titles))
        # The last line tells what was watched and lost, and no ratio of its own.
        last = (finished.out + finished.err).strip().splitlines()[-1]
        self.assertEqual([], re.findall(r'\b[0-9.]+x\b', last), finished)


def times(ratio):
    """A ratio as people read it."""
    return f'{ratio:.1f}x' if ratio < 9.95 else f'{ratio:.0f}x'


if __name__ == '__main__':
    unittest.main(verbosity=2)
