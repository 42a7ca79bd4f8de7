"""Messages of the wire as dictionaries, by the tables of proto/SPEC.md. Needs msgpack."""
import msgpack

from .tables import ROWS, TYPES

NUMBERS = {name: number for number, (name, _) in TYPES.items()}
MAX_BYTES = 16 << 20
_DEFAULTS = {'uint': 0, 'int': 0, 'float': float('nan'), 'str': '', 'bin': b''}


def _rows(table, rows):
    columns = ROWS[table]
    names = [name for name, _ in columns]
    defaults = [_DEFAULTS[kind] for _, kind in columns]
    return [dict(zip(names, [*row, *defaults[len(row):]])) for row in rows]


def decode(data):
    """A message as (name, {field: value}): rows are lists of dictionaries, and what is absent has its default.

    Unknown keys and columns are skipped. Raises ValueError for what is no message.
    """
    if len(data) > MAX_BYTES:
        raise ValueError('the message is longer than 16 MiB')
    try:
        number, values, *_ = msgpack.unpackb(data, strict_map_key=False)
        name, fields = TYPES[number]
        message = {}
        for key, (field, kind) in fields.items():
            if isinstance(kind, tuple):
                message[field] = _rows(kind[1], values.get(key, []))
            else:
                message[field] = values.get(key, _DEFAULTS[kind])
        return name, message
    except (KeyError, TypeError, ValueError, AttributeError, msgpack.UnpackException) as error:
        raise ValueError(f'no message of this protocol: {error!r}') from error


def encode(name, message):
    """The bytes of a message without rows."""
    number = NUMBERS[name]
    keys = {field: key for key, (field, _) in TYPES[number][1].items()}
    return msgpack.packb([number, {keys[field]: value for field, value in message.items()}])
