"""What the commands print as JSON is what their manual pages say: the tables there, and those of SPEC.md for messages."""
import json
import os
import re
import sys
import unittest

import lab

RECORDING = os.path.join(lab.SOURCE, 'docs', 'slow-link.hrec')
KINDS = {bool: 'boolean', int: 'integer', float: 'number', str: 'string', dict: 'object'}
EXACT = 2 ** 53  # doubles hold all integers up to it
ENVELOPE = {'topic', 'frame', 'snapshot'}


def page(command):
    """The section on JSON of a manual page."""
    with open(os.path.join(lab.SOURCE, 'docs', 'man', f'holter-{command}.1'), encoding='utf-8') as f:
        return f.read().replace('\\-', '-').partition('.SH JSON\n')[2].partition('.SH ')[0]


def table(command):
    """{path: (kind, whether it may be absent)}"""
    rows = re.findall(r'^([\w.\[\]]+)\t(\w+)(\??)\t.+$', page(command), re.MULTILINE)
    return {path: (kind, bool(absent)) for path, kind, absent in rows}


def spec():
    """Columns of messages and of rows, and of the tables of recordings, by name, as SPEC.md has them:
    ({message: {field: kind}}, {rows: {column: kind}}, {table: [column]})"""
    messages, rows, tables, into = {}, {}, {}, None
    with open(os.path.join(lab.SOURCE, 'proto', 'SPEC.md'), encoding='utf-8') as f:
        for line in f:
            message = re.match(r'### \d+ `(\w+)`', line)
            row = re.match(r'### Rows of (\w+)', line)
            field = re.match(r'\| \d+ \| `(\w+)` \| ([^|]+) \|', line)
            stored = re.match(r'\| `(\w+)` \| (`.*) \|$', line)
            if message:
                into = messages.setdefault(message[1], {})
            elif row:
                into = rows.setdefault(row[1], {})
            elif field and into is not None:
                into[field[1]] = field[2]
            elif stored:
                tables[stored[1]] = re.findall(r'`(\w+)` [A-Z]+', stored[2])
    return messages, rows, tables


class Json(unittest.TestCase):
    def setUp(self):
        self.place = lab.Lab()
        self.addCleanup(self.place.close)

    def printed(self, *words):
        finished = self.place.holter(*words).finish()
        self.assertEqual(0, finished.status, finished)
        try:
            return [json.loads(finished.out)]
        except ValueError:
            return [json.loads(line) for line in finished.out.splitlines()]

    def plain(self, value):
        """A value without the texts of large integers, each of which is there and right."""
        if isinstance(value, list):
            return [self.plain(v) for v in value]
        if not isinstance(value, dict):
            return value
        for key, number in value.items():
            if type(number) is int and abs(number) > EXACT:
                self.assertEqual(str(number), value.get(f'{key}_text'), key)
        return {k: self.plain(v) for k, v in value.items()
                if not (k.endswith('_text') and type(value.get(k[:-5])) is int and abs(value[k[:-5]]) > EXACT)}

    def paths(self, value, path, described, found):
        """Gather the kinds of all values below, by path."""
        if isinstance(value, dict) and described.get(path, ('', 0))[0] != 'object':
            for key, inner in value.items():
                self.paths(inner, f'{path}.{key}' if path else key, described, found)
        elif isinstance(value, list):
            for inner in value:
                self.paths(inner, f'{path}[]', described, found)
        else:
            found.setdefault(path, set()).add(KINDS[type(value)])

    def follows_its_page(self, command, *words):
        described, found = table(command), {}
        self.assertTrue(described, command)
        for value in self.printed(command, '-f', 'json', *words):
            self.paths(self.plain(value), '', described, found)
        for path, kinds in found.items():
            self.assertIn(path, described)
            kind = described[path][0]
            self.assertLessEqual(kinds, {'number', 'integer'} if kind == 'number' else {kind}, path)
        self.assertEqual(set(), {path for path, (_, absent) in described.items() if not absent and path not in found})

    def test_summaries_follow_their_pages(self):
        self.follows_its_page('info', RECORDING)
        self.follows_its_page('diff', RECORDING, RECORDING)
        self.follows_its_page('compare', RECORDING, RECORDING)
        self.follows_its_page('topology', 'torus:2,2')
        self.follows_its_page('topology', '--hosts', '--route', '0', '3', 'torus:2,2')
        self.follows_its_page('reroute', RECORDING)

    def test_differences_follow_their_page(self):
        part = os.path.join(self.place.output, 'part.hrec')
        self.assertEqual(0, self.place.holter('cut', '--from', '40%', '-o', part, RECORDING).finish().status)
        finished = self.place.holter('diff', '-f', 'json', RECORDING, part).finish()
        found = {}
        self.paths(self.plain(json.loads(finished.out)), '', table('diff'), found)
        self.assertEqual(set(table('diff')), set(found))

    def test_every_name_in_a_graph_is_on_its_page(self):
        words = set(re.findall(r'\w+', page('graph')))
        graph, = self.printed('graph', '-f', 'json', RECORDING)

        def names(value):
            for inner in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
                yield from names(inner)
            if isinstance(value, dict):
                yield from value
        self.assertEqual(set(), set(names(self.plain(graph))) - words)

    def test_an_export_has_the_columns_of_the_recording(self):
        tables = spec()[2]
        export, = self.printed('export', '--format', 'json', RECORDING)
        checked = 0
        for name, rows in self.plain(export)['tables'].items():
            for row in rows if name in tables else ():
                self.assertEqual(set(), set(row) - set(tables[name]), name)
                checked += 1
        self.assertGreater(checked, 100)

    def unexpected_rows(self, value, message):
        """The fields of a message whose rows do not have the columns of the specification."""
        messages, rows, _ = spec()
        found = set()
        for name, kind in messages[message].items():
            columns = re.match(r'rows of \[(\w+)\]', kind)
            for row in value[name] if columns else ():
                named = {column for column in row if not column.endswith('_name')}
                if set(rows[columns[1]]) != named | (set(row) & set(rows[columns[1]])):
                    found.add(name)
        return found

    def is_message(self, value, message):
        """The fields of a message of the wire, and the columns of its rows."""
        self.assertEqual(set(spec()[0][message]), set(value) - ENVELOPE, message)
        self.assertEqual(set(), self.unexpected_rows(value, message), message)

    def is_some_message(self, value):
        alike = [name for name, fields in spec()[0].items() if set(fields) == set(value) - ENVELOPE]
        self.assertTrue(alike, f'{value["topic"]}: {sorted(value)}')
        self.assertIn(set(), [self.unexpected_rows(value, name) for name in alike], f'{value["topic"]}, as {alike}')

    def test_messages_have_the_fields_of_the_specification(self):
        endpoint = f'ipc://{self.place.run_dir}/holterd.sock'
        replay = self.place.holter('replay', '--connect', endpoint, RECORDING)
        self.place.env['HOLTER_DAEMON'] = endpoint
        lab.wait_for(lambda: not replay.alive() or self.place.status(), 'the replay')
        asked = self.printed('tap', '-f', 'json', '--until-end')
        by_topic = {}
        for value in asked:
            value = self.plain(value)
            self.is_some_message(value)
            by_topic[value['topic']] = value
        self.assertLessEqual({'job', 'totals', 'ranks', 'nodes', 'alerts', 'latency', 'captures'}, set(by_topic))
        for value in self.printed('commgram', '-f', 'json'):
            self.assertEqual('commgram', value['topic'])
            self.assertEqual(1, value.pop('group'))
            self.is_message(self.plain(value), 'commgram')
        status = self.plain(self.printed('status', '-f', 'json')[0])
        self.assertEqual({'endpoint', 'daemon', 'jobs'}, set(status))
        self.is_message(status['daemon'], 'status')
        for job in status['jobs']:
            own = {key: job.pop(key) for key in ('latest', 'links', 'agents')}
            self.is_message(job, 'job')
            self.is_message(own['latest'], 'totals')
            self.assertEqual({'window', 'idle', 'busy', 'hot', 'congested'}, set(own['links'] or
                             {'window': 0, 'idle': 0, 'busy': 0, 'hot': 0, 'congested': 0}))
            for agent in own['agents']:
                self.is_message(agent, 'nodes')
        replay.kill()
        replay.finish()


if __name__ == '__main__':
    sys.exit(lab.main())
