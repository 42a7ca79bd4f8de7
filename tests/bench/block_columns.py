"""What takes the room in a recording: bytes of each column of its blocks, packed alone, and how they are told.

    python3 tests/bench/block_columns.py FILE [BLOCKS]
"""
import collections
import ctypes
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


CODINGS = ('plain', 'delta', 'left', 'left2', 'rest', 'sizes', 'left3', 'keyed', 'twin', 'hashed', 'chain', 'chained')
SHAPES = ('', '/split', '/same')


def name_of(kind, key, place):
    if kind == 0:
        return f'(head {key})'
    message, fields = recording.MESSAGES[kind]
    field, table = fields.get(key, (str(key), None))
    column = '' if not table or place == 0 else '.' + (recording.ROWS[table] + ['?'] * 64)[place - 1]
    return f'{message}.{field}{column}'


def main():
    path, most = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 30
    sizes, values, told = collections.Counter(), collections.Counter(), collections.defaultdict(set)
    raw = stored = 0
    connection = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
    for length, data in connection.execute('SELECT length, data FROM block ORDER BY first LIMIT ?', (most,)):
        raw, stored = raw + length, stored + len(data)
        for kind, key, place, _, coding, _, count, shape, plain, bits in recording.block_columns(data)[2]:
            sizes[kind, key, place] += packed(plain) + len(bits)
            values[kind, key, place] += count
            told[kind, key, place].add(f'{CODINGS[coding]}{SHAPES[shape]}')
    print(f'{raw} bytes of messages in {stored}: {raw / stored:.2f} to 1')
    for column, size in sizes.most_common(24):
        print(f'  {name_of(*column):32} {values[column]:9} values {size:9} bytes {100 * size / stored:5.1f} %'
              f' {8 * size / values[column]:6.2f} bits each, {" ".join(sorted(told[column]))}')


if __name__ == '__main__':
    main()
