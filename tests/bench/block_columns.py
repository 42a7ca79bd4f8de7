"""What takes the room in a recording: bytes of each column of its blocks, packed alone, and a bound of what keys need.

    python3 tests/bench/block_columns.py FILE [BLOCKS]

Keys of messages between nodes are hashes, in order: of n new ones below b no coding can do with fewer than
log2(b^n / n!) bits in the mean. The second end of a message has the key of the first.
"""
import collections
import ctypes
import math
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'system'))
import recording  # noqa: E402


def packed(data):
    """Bytes of a zstd frame of them."""
    zstd = ctypes.CDLL('libzstd.so.1')
    zstd.ZSTD_compress.restype = ctypes.c_size_t
    room = len(data) + len(data) // 128 + 512
    return zstd.ZSTD_compress(ctypes.create_string_buffer(room), ctypes.c_size_t(room), bytes(data),
                              ctypes.c_size_t(len(data)), 1)


def name_of(kind, key, place):
    if kind == 0:
        return f'(head {key})'
    message, fields = recording.MESSAGES[kind]
    field, table = fields.get(key, (str(key), None))
    column = '' if not table or place == 0 else '.' + (recording.ROWS[table] + ['?'] * 64)[place - 1]
    return f'{message}.{field}{column}'


def columns_of(plain):
    """[(type, key, place, values, bytes)] of a block"""
    source = recording._Column(1, 0, 0, plain)
    source.varint(), source.varint()
    for _ in range(source.varint()):
        recording._layout(source)
    heads = [[source.varint() for _ in range(8)] for _ in range(source.varint())]
    return [(*head[:3], head[6], source.take(head[7])) for head in heads]


def key_bits(messages):
    """(rows, new keys, bits they need at least) of one block"""
    seen, rows, new, bits = set(), 0, 0, 0.0
    for _, _, _, message in messages:
        keys = {half['key'] for half in message.get('halves') or []}
        rows += len(keys)
        fresh = len(keys - seen)
        seen |= keys
        new += fresh
        below = message.get('keys_below') or 1 << 64
        bits += fresh * math.log2(below) - math.lgamma(fresh + 1) / math.log(2)
    return rows, new, bits


def main():
    path, most = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 30
    sizes, values = collections.Counter(), collections.Counter()
    raw = stored = rows = new = bits = 0
    connection = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
    for length, data in connection.execute('SELECT length, data FROM block ORDER BY first LIMIT ?', (most,)):
        raw, stored = raw + length, stored + len(data)
        for kind, key, place, count, plain in columns_of(recording.decompress(data)):
            sizes[kind, key, place] += packed(plain)
            values[kind, key, place] += count
        rows, new, bits = (a + b for a, b in zip((rows, new, bits), key_bits(recording.unpack_block(data))))
    print(f'{raw} bytes of messages in {stored}: {raw / stored:.2f} to 1')
    for column, size in sizes.most_common(20):
        print(f'  {name_of(*column):32} {values[column]:9} values {size:9} bytes {100 * size / stored:5.1f} %')
    if new:
        print(f'keys: {rows} rows, {new} new ones, which need {bits / 8:.0f} bytes at least: '
              f'{100 * bits / 8 / stored:.1f} %')


if __name__ == '__main__':
    main()
