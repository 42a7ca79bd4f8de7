"""Reads recordings and wire messages without any code of Holter: an independent look at both.

Names and keys come from the one list in include/holter/wire.h, the numbers of calls from agent/probe/calls.def.
"""
import collections
import copy
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


def frame_length(data):
    """Bytes of the zstd frame that they begin with."""
    zstd = ctypes.CDLL('libzstd.so.1')
    zstd.ZSTD_findFrameCompressedSize.restype = ctypes.c_size_t
    length = zstd.ZSTD_findFrameCompressedSize(data, ctypes.c_size_t(len(data)))
    if length > len(data):
        raise ValueError('not a zstd frame')
    return length


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


class _Column:
    """The values of one column of a block."""

    def __init__(self, kind, coding, negative, data):
        self.kind, self.coding, self.negative, self.data = kind, coding, negative, data
        self.at, self.before, self.past, self.twin = 0, 0, [], None
        self.ready, self.twins, self.row = None, None, 0  # all values, where they are worked out before

    def varint(self):
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
            raise ValueError('a column ends too soon')
        return self.data[self.at - n:self.at]

    def key(self):
        number = self.varint()
        if number:
            number -= 1
            self.twin = self.before + ((number >> 1) ^ -(number & 1))
            self.before = self.twin + 1
            self.past.append(self.past[self.twin])
        else:
            self.twin = None
            self.past.append(struct.unpack('<Q', self.take(8))[0])
        return self.past[-1]

    def value(self, row=(), twin=None):
        """The next one. row: values to the left of it; twin: number of the earlier row with its key"""
        if self.kind == 2:
            return struct.unpack('<d', self.take(8))[0]
        if self.kind == 3:
            return self.take(self.varint())
        if self.ready is not None:
            self.twin = self.twins[self.row] if self.twins else None
            self.row += 1
            return self.ready[self.row - 1]
        if self.coding == 7:
            return self.key()
        number = self.varint()
        if self.coding == 5:
            number = _sizes(number, *row[-2:]) if number else self.varint()
        elif self.coding or self.negative:
            number = (number >> 1) ^ -(number & 1)
        if 0 < self.coding < 5:
            number += {1: lambda: self.before, 2: lambda: row[-1], 3: lambda: row[-2],
                       4: lambda: row[-3] - row[-1]}[self.coding]()
        elif self.coding == 6:
            number += row[-3]
        elif self.coding == 8:
            number += 0 if twin is None else self.past[twin]
        number &= (1 << 64) - 1
        if self.negative and number >> 63:
            number -= 1 << 64
        self.before = number
        self.past.append(number)
        return number


def _class_floor(size_class):
    """include/holter/size_class.h"""
    if size_class < 64:
        return size_class
    octave, part = divmod(size_class - 64, 16)
    return (16 + part) << (octave + 2)


def _sizes(number, size_class, messages):
    least = _class_floor(size_class)
    left, more = divmod(number - 1, _class_floor(size_class + 1) - least)
    return messages * (least + more) + left


def _layout(source):
    """(type, [(key, kind, [kinds of the columns of rows])])"""
    byte = lambda: source.take(1)[0]
    kind_of = byte()
    fields = []
    for _ in range(byte()):
        key, kind = byte(), byte()
        fields.append((key, kind, [byte() for _ in range(byte())] if kind == 4 else []))
    return kind_of, fields


def block_columns(data):
    """(messages, layouts, [(type, key, place, kind, coding, negative, values, shape, bytes, bits behind the frame)])"""
    frame = frame_length(data)
    plain, bits = _Column(1, 0, 0, decompress(data[:frame])), data[frame:]
    form = plain.varint()
    if form not in (1, 2):
        raise ValueError('a block of another form')
    count = plain.varint()
    layouts = [_layout(plain) for _ in range(plain.varint())]
    heads = [[plain.varint() for _ in range(6 + 2 * form)] for _ in range(plain.varint())]
    columns, at = [], 0
    for kind_of, key, place, kind, coding, negative, values, *shape in heads:
        shape, length, below = shape if form == 2 else (0, *shape, 0)
        columns.append((kind_of, key, place, kind, coding, negative, values, shape, plain.take(length), bits[at:at + below]))
        at += below
    if plain.at != len(plain.data) or at != len(bits):
        raise ValueError('bytes behind the last column')
    return count, layouts, columns


def _varint(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def _split(classes, below):
    """Numbers of their classes and the bits that are left of them."""
    bits, at, numbers = int.from_bytes(below, 'little'), 0, []
    for c in classes:
        more = 0 if c < 8 else (c - 8) // 4 + 1
        numbers.append(c if c < 8 else ((4 + (c & 3)) << more) + (bits >> at & (1 << more) - 1))
        at += more
    return numbers


def _widened(shape, values, data, below):
    """The numbers of a column in seven bits a byte."""
    if shape == 1:
        # Not all bits at once: that would take the square of their number.
        parts, at = [], 0
        for begin in range(0, values, 64):
            classes = data[begin:begin + 64]
            more = sum(0 if c < 8 else (c - 8) // 4 + 1 for c in classes)
            word = int.from_bytes(below[at // 8:(at + more) // 8 + 1], 'little') >> at % 8
            parts += _split(classes, word.to_bytes(more // 8 + 2, 'little'))
            at += more
        data = b''.join(map(_varint, parts))
    return data * values if shape == 2 else data


def _fold_back(number):
    return (number >> 1) ^ -(number & 1)


def _mix(x):
    """message_key_mix() of include/holter/message_key.h"""
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & _MOST
    x = (x ^ x >> 27) * 0x94d049bb133111eb & _MOST
    return x ^ x >> 31


_MOST = (1 << 64) - 1


def _make_keys(columns, table):
    """Values of the keys of messages, and the rows before of the same ends."""
    keys = columns[(*table, 1, 1)]
    ends = [copy.copy(columns[(*table, place, 1)]) for place in (2, 3, 4)]
    for column in ends:
        column.past = []
    rows, before, keys.ready, keys.twins = {}, 0, [], []
    while keys.at < len(keys.data):
        row = []
        for column in ends:
            row.append(column.value([None] + row))
        receive, source, destination = row
        slot = (source * 0x9e3779b97f4a7c15 + destination * 0xd1b54a32d192ed03 + receive * 0x8cb92ba72f3d8dd7 & _MOST) >> 50
        twin, last = rows.get(slot, (None, None))
        before = ((before if twin is None else last + 1) + _fold_back(keys.varint())) & _MOST
        rows[slot] = len(keys.ready), before
        keys.twins.append(twin)
        keys.ready.append(_mix(before + _mix(((source << 32) ^ destination) + 0x9e3779b97f4a7c15 & _MOST) & _MOST))


def _make_chain(left, right):
    begin = length = 0
    left.ready, right.ready = [], []
    while left.at < len(left.data):
        number, more = left.varint(), right.varint()
        if number:
            begin += length + _fold_back(number - 1)
            length = _fold_back(more) if right.negative else more
        else:
            length += _fold_back(more)
        left.ready.append(_signed(begin, left.negative))
        right.ready.append(_signed(length, right.negative))


def _signed(number, negative):
    number &= _MOST
    return number - (1 << 64) if negative and number >> 63 else number


def unpack_block(data):
    """[(agent, seq, name, {field: value})], see docs/recording.md"""
    count, layouts, described = block_columns(data)
    columns = {}
    for kind_of, key, place, kind, coding, negative, values, shape, plain, bits in described:
        columns[kind_of, key, place, kind] = _Column(kind, coding, negative, _widened(shape, values, plain, bits))
    for (kind_of, key, place, kind), column in columns.items():
        if column.coding == 9:
            _make_keys(columns, (kind_of, key))
        elif column.coding == 10:
            _make_chain(column, columns[kind_of, key, place + 1, kind])
    return [_unpack_message(columns, layouts) for _ in range(count)]


def _unpack_message(columns, layouts):
    layout, _, agent, seq, _, _, _ = [columns[0, key, 0, 1].value() for key in range(1, 8)]
    if layout == 0:
        return (agent, seq, *decode(columns[0, 8, 0, 3].value()))
    kind_of, fields = layouts[layout - 1]
    values = {}
    for key, kind, kinds in fields:
        if kind != 4:
            values[key] = _text(columns[kind_of, key, 0, kind].value())
            continue
        values[key] = []
        for _ in range(columns[kind_of, key, 0, 1].value()):
            row = []
            for place, of in enumerate(kinds, 1):
                twin = columns[kind_of, key, 1, kinds[0]].twin
                row.append(_text(columns[kind_of, key, place, of].value(row, twin)))
            values[key].append(row)
    return (agent, seq, *_named(kind_of, values))


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


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

    def check(self):
        """The file is whole: SQLite says so, every message can be read, none is there twice."""
        if self._query('PRAGMA integrity_check') != [('ok',)]:
            raise AssertionError(f'{self.path} is damaged')
        self.messages()

    def messages(self):
        """[(agent's instance, name, message)] in order of arrival."""
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
        return [(instance, name, message) for instance, _, name, message in found]

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
