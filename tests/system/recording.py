"""Reads recordings and wire messages without any code of Holter: an independent look at both.

Names and keys come from the one list in include/holter/wire.h, the numbers of calls from agent/probe/calls.def.
"""
import collections
import ctypes
import json
import os
import re
import sqlite3
import struct

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _read(*path):
    with open(os.path.join(SOURCE, *path), encoding='utf-8') as f:
        return f.read()


def _wire_tables():
    """({row table: [column]}, {type number: (name, {key: (field, row table or None)})})"""
    text = _read('include', 'holter', 'wire.h').replace('\\\n', ' ')
    rows = {table.lower(): re.findall(r'COLUMN\(\w+, (\w+),', body)
            for table, body in re.findall(r'#define WIRE_(\w+)_ROW\(COLUMN\)(.*)', text)}
    fields = {name: {int(key): (field, table or None) for key, table, field in
                     re.findall(r'FIELD\((\d+), (?:ROWS\((\w+)\)|\w+), (\w+),', body)}
              for name, body in re.findall(r'#define WIRE_(\w+)\(FIELD\)(.*)', text)}
    messages = {int(number): (name, fields[table]) for number, name, table in
                re.findall(r'X\((\d+), \w+, (\w+), WIRE_(\w+),', text)}
    return rows, messages


ROWS, MESSAGES = _wire_tables()
CALLS = {int(number): 'MPI_' + name for number, name in
         re.findall(r'^(\d+) +[\w-]+ +\w+ +(\w+)\(', _read('agent', 'probe', 'calls.def'), re.M)}
CLASSES = {'MPI_' + name: klass for klass, name in
           re.findall(r'^\d+ +([\w-]+) +\w+ +(\w+)\(', _read('agent', 'probe', 'calls.def'), re.M)}


class _Unpacker:
    """MessagePack, https://github.com/msgpack/msgpack/blob/master/spec.md"""
    _FIXED = {0xca: '>f', 0xcb: '>d', 0xcc: '>B', 0xcd: '>H', 0xce: '>I', 0xcf: '>Q',
              0xd0: '>b', 0xd1: '>h', 0xd2: '>i', 0xd3: '>q'}

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        if self.at > len(self.data):
            raise ValueError('the message ends too soon')
        return self.data[self.at - n:self.at]

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def value(self):
        b = self.take(1)[0]
        if b < 0x80:
            return b
        if b >= 0xe0:
            return b - 256
        if b < 0x90:
            return self.map(b & 15)
        if b < 0xa0:
            return [self.value() for _ in range(b & 15)]
        if b < 0xc0:
            return self.take(b & 31).decode()
        if b in self._FIXED:
            return self.number(self._FIXED[b])
        if b in (0xc0, 0xc2, 0xc3):
            return {0xc0: None, 0xc2: False, 0xc3: True}[b]
        if b in (0xc4, 0xc5, 0xc6):
            return self.take(self.number({0xc4: '>B', 0xc5: '>H', 0xc6: '>I'}[b]))
        if b in (0xd9, 0xda, 0xdb):
            return self.take(self.number({0xd9: '>B', 0xda: '>H', 0xdb: '>I'}[b])).decode()
        if b in (0xdc, 0xdd):
            return [self.value() for _ in range(self.number('>H' if b == 0xdc else '>I'))]
        if b in (0xde, 0xdf):
            return self.map(self.number('>H' if b == 0xde else '>I'))
        raise ValueError(f'byte {b:#x} begins no value')

    def map(self, n):
        pairs = [(self.value(), self.value()) for _ in range(n)]
        return dict(pairs)


def decode(data):
    """A wire message as (name, {field: value}); rows are dictionaries."""
    number, values = _Unpacker(data).value()
    name, fields = MESSAGES[number]
    message = {}
    for key, (field, table) in fields.items():
        value = values.get(key)
        if table:
            columns = ROWS[table]
            value = [dict(zip(columns, row + [0] * (len(columns) - len(row)))) for row in value or []]
        message[field] = 0 if value is None else value
    return name, message


def decompress(data):
    """One zstd frame."""
    zstd = ctypes.CDLL('libzstd.so.1')
    zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    size = zstd.ZSTD_getFrameContentSize(data, ctypes.c_size_t(len(data)))
    if size >= 1 << 32:
        raise ValueError('not a zstd frame with its size')
    out = ctypes.create_string_buffer(size)
    if zstd.ZSTD_decompress(out, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data))) != size:
        raise ValueError('a damaged zstd frame')
    return out.raw


class Sums:
    """Sums over window messages or topic messages."""

    def __init__(self):
        self.ranks = collections.defaultdict(collections.Counter)  # rank: figures
        self.sent = collections.Counter()                          # source, destination: messages
        self.sent_bytes = collections.Counter()
        self.region_sent = collections.Counter()                   # source, region: messages
        self.region_bytes = collections.Counter()
        self.calls = collections.Counter()                         # rank, call: how many
        self.given = collections.Counter()
        self.got = collections.Counter()

    def add(self, message):
        for row in message.get('ranks', []):
            self.ranks[row['rank']].update({k: v for k, v in row.items()
                                            if k not in ('rank', 'threads', 'process_state')
                                            and not k.startswith('in_call')})
        regions = [r['name'] for r in message.get('regions', [])]
        for row in message.get('pairs', []):
            pair = row['source'], row['destination']
            self.sent[pair] += row['messages']
            self.sent_bytes[pair] += row['bytes']
            if row['region']:
                region = row['source'], regions[row['region']]
                self.region_sent[region] += row['messages']
                self.region_bytes[region] += row['bytes']
        for row in message.get('calls', []):
            call = row['rank'], CALLS[row['call']]
            self.calls[call] += row['calls']
            self.given[call] += row['bytes']
            self.got[call] += row['bytes_in']

    def total(self, figure):
        return sum(row[figure] for row in self.ranks.values())


class Recording:
    """A .hrec file: messages as agents sent them, and plain tables."""

    def __init__(self, path):
        self.path = path

    def _query(self, text):
        connection = sqlite3.connect(self.path)
        try:
            return connection.execute(text).fetchall()
        finally:
            connection.close()

    def check(self):
        """The file is whole: SQLite says so, every message can be read, none is there twice."""
        if self._query('PRAGMA integrity_check') != [('ok',)]:
            raise AssertionError(f'{self.path} is damaged')
        self.messages()

    def messages(self):
        """[(agent's instance, name, message)] in order of arrival."""
        rows = self._query('SELECT instance, seq, zstd FROM messages ORDER BY id')
        seen = collections.Counter((instance, seq) for instance, seq, _ in rows)
        twice = [key for key, n in seen.items() if n > 1]
        if twice:
            raise AssertionError(f'{self.path}: recorded twice: {twice}')
        return [(instance, *decode(decompress(data))) for instance, _, data in rows]

    def windows(self):
        return [message for _, name, message in self.messages() if name == 'window']

    def members(self):
        """{host: members of the job on it}"""
        hosts = collections.defaultdict(list)
        for _, name, message in self.messages():
            if name == 'ranks':
                hosts[message['host']] += message['members']
        return hosts

    def deaths(self):
        return [death for window in self.windows() for death in window['deaths']]

    def matching(self):
        """Sum over agents of what they matched: {'matched': ..., 'unmatched': ..., 'rejected': ...}"""
        newest = {(instance, message['job']): message['node'][0]
                  for instance, name, message in self.messages() if name == 'window' and message['node']}
        return {figure: sum(node[figure] for node in newest.values())
                for figure in ('matched', 'unmatched', 'rejected')}

    def sums(self, sums=None):
        """Sum of all windows, added to sums when given."""
        sums = sums or Sums()
        for window in self.windows():
            sums.add(window)
        return sums

    def latencies(self, scope):
        """Rows of the table `latency`, [{column: value}] in the order of windows."""
        columns = [row[1] for row in self._query('PRAGMA table_info(latency)')]
        rows = self._query(f"SELECT * FROM latency WHERE scope = '{scope}' ORDER BY window")
        return [dict(zip(columns, row)) for row in rows]

    def _rows(self, table, key):
        columns = [row[1] for row in self._query(f'PRAGMA table_info({table})')]
        return [dict(zip(columns, row)) for row in self._query(f'SELECT * FROM {table} ORDER BY {key}')]

    def phases(self):
        """Rows of the table `phase`."""
        return self._rows('phase', 'id')

    def curve(self):
        """Rows of the table `curve`."""
        return self._rows('curve', 'phase')

    def totals(self):
        """Sum of the table `totals`, {column: sum}."""
        columns = [row[1] for row in self._query('PRAGMA table_info(totals)')]
        values = self._query('SELECT ' + ', '.join(f'TOTAL({c})' for c in columns) + ' FROM totals')[0]
        return {c: int(v) for c, v in zip(columns, values)}


def tapped(text):
    """What `holter tap -f json` printed, as (all that it tells of the job, the current state it began with)."""
    everything, state = Sums(), Sums()
    for line in text.splitlines():
        message = json.loads(line)
        if message['topic'] in ('ranks', 'pairs', 'calls'):
            everything.add(message)
            if message['snapshot']:
                state.add(message)
    return everything, state
