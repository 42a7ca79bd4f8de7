"""Makes a picture small: 256 colours in place of all."""
import collections
import struct
import zlib

STEP = 4  # colours this near to each other are one


def _chunks(data):
    at = 8
    while at < len(data):
        length, kind = struct.unpack('>I4s', data[at:at + 8])
        yield kind, data[at + 8:at + 8 + length]
        at += 12 + length


def _chunk(kind, body):
    return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))


def _paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def _unfilter(kind, line, before):
    """One line of a PNG, 3 bytes a pixel (PNG specification, section 9)."""
    for i in range(len(line) if kind else 0):
        a, b, c = (line[i - 3], before[i], before[i - 3]) if i >= 3 else (0, before[i], 0)
        line[i] = line[i] + (0, a, b, (a + b) // 2, 0)[kind] & 255 if kind < 4 else line[i] + _paeth(a, b, c) & 255
    return line


def _pixels(data):
    """Width, height and colours, rounded, of an RGB picture."""
    width, height, depth, colours = struct.unpack('>IIBB', data[16:26])
    if (depth, colours) != (8, 2):
        raise ValueError('not a picture as holter-view writes it')
    raw = zlib.decompress(b''.join(body for kind, body in _chunks(data) if kind == b'IDAT'))
    before, pixels, stride = bytearray(3 * width), [], 3 * width + 1
    coarse = bytes(i // STEP * STEP for i in range(256))
    for y in range(height):
        before = _unfilter(raw[y * stride], bytearray(raw[y * stride + 1:(y + 1) * stride]), before)
        line = before.translate(coarse)
        pixels += zip(line[0::3], line[1::3], line[2::3])
    return width, height, pixels


def _palette(count):
    """256 colours, and which of them stands for each. Those come first that are frequent and far from what there is
    already, so that rare ones, as of a legend, have a place too."""
    palette, number = [], {}
    far = {colour: 1 << 20 for colour in count}
    weight = {colour: n ** 0.5 for colour, n in count.items()}
    for i in range(min(256, len(count))):
        best = max(far, key=lambda colour: weight[colour] * far[colour])
        palette.append(best)
        for colour in far:
            d = (colour[0] - best[0]) ** 2 + (colour[1] - best[1]) ** 2 + (colour[2] - best[2]) ** 2
            if d < far[colour]:
                far[colour], number[colour] = d, i
    return palette, number


def shrink(path):
    with open(path, 'rb') as f:
        width, height, pixels = _pixels(f.read())
    count = collections.Counter(pixels)
    palette, number = _palette(count)
    flat = bytes(map(number.__getitem__, pixels))
    lines = b''.join(b'\0' + flat[y * width:(y + 1) * width] for y in range(height))
    with open(path, 'wb') as f:
        f.write(b'\x89PNG\r\n\x1a\n' + _chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 3, 0, 0, 0)) +
                _chunk(b'PLTE', b''.join(map(bytes, palette))) + _chunk(b'IDAT', zlib.compress(lines, 9)) +
                _chunk(b'IEND', b''))
