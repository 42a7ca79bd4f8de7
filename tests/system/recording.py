"""Reads recordings and wire messages without any code of Holter: an independent look at both.

Names and keys come from the one list in include/holter/wire.h, the numbers of calls from agent/probe/calls.def.
"""
import collections
import ctypes
import functools
import itertools
import json
import os
import re
import sqlite3
import struct

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _read(*path):
    with open(os.path.join(SOURCE, *path), encoding='utf-8') as f:
        return f.read()


KINDS = {}  # row table: [kind of each column]; MESSAGE: {key: kind of the field}


def _wire_tables():
    """({row table: [column]}, {type number: (name, {key: (field, row table or None)})})"""
    text = _read('include', 'holter', 'wire.h').replace('\\\n', ' ')
    rows = {table.lower(): re.findall(r'COLUMN\(\w+, (\w+),', body)
            for table, body in re.findall(r'#define WIRE_(\w+)_ROW\(COLUMN\)(.*)', text)}
    for table, body in re.findall(r'#define WIRE_(\w+)_ROW\(COLUMN\)(.*)', text):
        KINDS[table.lower()] = re.findall(r'COLUMN\((\w+), \w+,', body)
    for name, body in re.findall(r'#define WIRE_(\w+)\(FIELD\)(.*)', text):
        KINDS[name] = {int(key): kind for key, kind in re.findall(r'FIELD\((\d+), (\w+)', body)}
    fields = {name: {int(key): (field, table or None) for key, table, field in
                     re.findall(r'FIELD\((\d+), (?:ROWS\((\w+)\)|\w+), (\w+),', body)}
              for name, body in re.findall(r'#define WIRE_(\w+)\(FIELD\)(.*)', text)}
    messages = {int(number): (name, fields[table]) for number, name, table in
                re.findall(r'X\((\d+), \w+, (\w+), WIRE_(\w+),', text)}
    for number, table in re.findall(r'X\((\d+), \w+, \w+, WIRE_(\w+),', text):
        KINDS[int(number)] = KINDS[table]
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
    return _named(*_Unpacker(data).value())


def _named(number, values):
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


_MOST = (1 << 64) - 1
_PLAIN, _DELTA, _KEYS = range(3)


class _Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        number = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def take(self, n):
        self.at += n
        if self.at > len(self.data):
            raise ValueError('a block ends too soon')
        return self.data[self.at - n:self.at]


def _unzigzag(number):
    return (number >> 1) ^ -(number & 1)


def _mix(x):
    """message_key_mix() of include/holter/message_key.h"""
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & _MOST
    x = (x ^ x >> 27) * 0x94d049bb133111eb & _MOST
    return x ^ x >> 31


def _key_values(residuals, receives, sources, destinations):
    slots, values = collections.defaultdict(int), []
    for number, receive, source, destination in zip(residuals, receives, sources, destinations):
        slot = (source * 0x9e3779b97f4a7c15 + destination * 0xd1b54a32d192ed03 + receive * 0x8cb92ba72f3d8dd7 & _MOST) >> 50
        slots[slot] = slots[slot] + _unzigzag(number) & _MOST
        values.append(_mix(slots[slot] + _mix(((source << 32) ^ destination) + 0x9e3779b97f4a7c15 & _MOST) & _MOST))
    return values


def _column_values(heads, data):
    """{place: all values} of the columns of one field: numbers from 0 to 2^64 - 1, or bytes"""
    values, keys = {}, None
    for place, kind, coding, width, count, length in heads:
        plain = _Bytes(data.take(length))
        if kind == 1:
            values[place] = [plain.take(plain.number()) for _ in range(count)]
            continue
        planes = [plain.take(count) for _ in range(width)]
        numbers = bytearray(8 * count)
        for byte, plane in enumerate(planes):
            numbers[byte::8] = plane
        residuals = struct.unpack(f'<{count}Q', numbers)
        if coding == _KEYS:
            keys = residuals
        elif coding == _DELTA:
            values[place] = [v & _MOST for v in itertools.accumulate(map(_unzigzag, residuals))]
        else:
            values[place] = residuals
    if keys is not None:
        values[1] = _key_values(keys, values[2], values[3], values[4])
    return values


def _typed(kind, values):
    if kind == 'STR':
        return map(bytes.decode, values)
    if kind == 'F64':
        return struct.unpack(f'<{len(values)}d', struct.pack(f'<{len(values)}Q', *values))
    return (v - (1 << 64) if v >> 63 else v for v in values) if kind == 'I64' else values


def _kind_of_column(message, key, place):
    if message == 0:
        return 'BIN' if key == 10 else 'U64'
    kind = KINDS[message][key]
    return KINDS[MESSAGES[message][1][key][1]][place - 1] if kind == 'ROWS' and place else kind


@functools.lru_cache(maxsize=None)
def unpack_block(data):
    """((agent, seq, name, {field: value}), ...), see daemon/storage/block/block_format.h

    Tests ask for the messages of a recording again and again, and a block does not change: what was unpacked is
    kept, and is not to be written to."""
    plain = _Bytes(decompress(data))
    if plain.number() != 1:
        raise ValueError('a block of another form')
    count, fields = plain.number(), collections.OrderedDict()
    for head in [[plain.number() for _ in range(8)] for _ in range(plain.number())]:
        fields.setdefault((head[0], head[1]), []).append(head[2:])
    columns = {field: _column_values(heads, plain) for field, heads in fields.items()}
    if plain.at != len(plain.data):
        raise ValueError('bytes after the last column')
    streams = {(*field, place): iter(_typed(_kind_of_column(*field, place), values))
               for field, places in columns.items() for place, values in places.items()}
    return tuple(_unpack_message(streams) for _ in range(count))


def _unpack_message(streams):
    kind_of, present, _, _, agent, seq, _, _, _ = [next(streams[0, key, 0]) for key in range(1, 10)]
    if kind_of == 0:
        return (agent, seq, *decode(next(streams[0, 10, 0])))
    values, tables = {}, MESSAGES[kind_of][1]
    for key, kind in KINDS[kind_of].items():
        if not present >> key & 1:
            continue
        value = next(streams[kind_of, key, 0])
        if kind != 'ROWS':
            values[key] = value
            continue
        places = range(1, len(KINDS[tables[key][1]]) + 1)
        rows = zip(*(itertools.islice(streams[kind_of, key, place], value) for place in places)) if value else ()
        values[key] = [list(row) for row in rows]
        if len(values[key]) != value:
            raise ValueError('a column is too short')
    return (agent, seq, *_named(kind_of, values))


# Columns of published rows of ranks that the daemon computes from matched messages: agents do not report them.
DERIVED = ('send_wait_ns', 'awaited', 'awaited_ns')


class Sums:
    """Sums over window messages or topic messages."""

    def __init__(self):
        self.ranks = collections.defaultdict(collections.Counter)  # rank: figures
        self.sent = collections.Counter()                          # source, destination: messages
        self.sent_bytes = collections.Counter()
        self.region_sent = collections.Counter()                   # source, region: messages
        self.region_bytes = collections.Counter()
        self.calls = collections.Counter()                         # rank, call: how many
        self.polls = collections.Counter()                         # of these, polls that found nothing
        self.given = collections.Counter()
        self.got = collections.Counter()

    def add(self, message):
        for row in message.get('ranks', []):
            self.ranks[row['rank']].update({k: v for k, v in row.items()
                                            if k not in ('rank', 'threads', 'process_state', 'absent_ns', *DERIVED)
                                            and not k.startswith('in_call')})
            # sums of windows count the windows that a rank does not report as time in which it was not there
            length_ns = message['length_ns'] * max(1, message.get('windows', 0)) * max(1, row.get('ranks', 0))
            self.ranks[row['rank']]['there_ns'] += length_ns - row['absent_ns']
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
            self.polls[call] += row['polls']
            self.given[call] += row['bytes']
            self.got[call] += row['bytes_in']

    def total(self, figure):
        return sum(row[figure] for row in self.ranks.values())


class Recording:
    """A .hrec file: messages as agents sent them, and plain tables."""

    def __init__(self, path):
        self.path = path

    def _query(self, *texts):
        """Rows that each of them finds, of one state of the file, which may be in the making."""
        connection = sqlite3.connect(self.path, isolation_level=None)
        try:
            connection.execute('BEGIN')
            found = [connection.execute(text).fetchall() for text in texts]
            return found[0] if len(texts) == 1 else found
        finally:
            connection.close()

    def begun(self):
        """Whether it has tables: the first thing that its daemon writes, unless it is killed before."""
        return bool(self._query("SELECT 1 FROM sqlite_master WHERE name = 'agent'"))

    def state(self):
        """Of the job, None: it is not written yet."""
        return next((row[0] for row in self._query('SELECT state FROM job')), None)

    def check(self):
        """The file is whole: SQLite says so, every message can be read, none is there twice."""
        if self._query('PRAGMA integrity_check') != [('ok',)]:
            raise AssertionError(f'{self.path} is damaged')
        self.messages()

    def messages(self):
        """[(agent's instance, name, message)] in order of arrival."""
        return [(instance, name, message) for instance, _, name, message in self.numbered_messages()]

    def numbered_messages(self):
        """[(agent's instance, number, name, message)] in order of arrival."""
        agents, blocks = self._query('SELECT agent, instance FROM agent',
                                     'SELECT first, messages, data FROM block ORDER BY first')
        agents, found = dict(agents), []
        for first, count, data in blocks:
            if first != len(found) + 1:
                raise AssertionError(f'{self.path}: a block begins with message {first}, not {len(found) + 1}')
            messages = unpack_block(data)
            if len(messages) != count:
                raise AssertionError(f'{self.path}: block {first} has {len(messages)} messages, not {count}')
            found += [(agents[agent], seq, name, message) for agent, seq, name, message in messages]
        seen = collections.Counter((instance, seq) for instance, seq, _, _ in found)
        twice = [key for key, n in seen.items() if n > 1]
        if twice:
            raise AssertionError(f'{self.path}: recorded twice: {twice}')
        return found

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

    def _newest_nodes(self):
        newest = {(instance, message['job']): message['node'][0]
                  for instance, name, message in self.messages() if name == 'window' and message['node']}
        return newest.values()

    def matching(self):
        """Sum over agents of what they matched: {'matched': ..., 'unmatched': ..., 'rejected': ...}"""
        return {figure: sum(node[figure] for node in self._newest_nodes())
                for figure in ('matched', 'unmatched', 'rejected')}

    def passed_over(self):
        """Ends of messages between nodes that no agent has sent, as those of windows before it knew its daemon's time."""
        return sum(node['passed_over'] for node in self._newest_nodes())

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

    def rows(self, table, key):
        """Rows of a table, [{column: value}]."""
        columns = [row[1] for row in self._query(f'PRAGMA table_info({table})')]
        return [dict(zip(columns, row)) for row in self._query(f'SELECT * FROM {table} ORDER BY {key}')]

    def phases(self):
        """Rows of the table `phase`."""
        return self.rows('phase', 'id')

    def alerts(self):
        """Rows of the table `alert`."""
        return self.rows('alert', 'id')

    def curve(self):
        """Rows of the table `curve`."""
        return self.rows('curve', 'phase')

    def matched(self):
        """[(matched, unmatched)] since the job's start, as published with each window, in this order."""
        return self._query('SELECT matched, unmatched FROM totals ORDER BY matched + unmatched, matched')

    def totals_by_window(self):
        """{window: {column: value}} of the table `totals`."""
        return {row['window']: row for row in self.rows('totals', 'window')}

    def window_numbers(self):
        return [row[0] for row in self._query('SELECT window FROM totals ORDER BY window')]

    def received(self):
        """Messages received in each window."""
        return [row[0] for row in self._query('SELECT received FROM totals ORDER BY window')]

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
