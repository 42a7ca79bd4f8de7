"""Writes tables.py from the tables of proto/SPEC.md.

usage: make_tables.py SPEC.md VERSION EXTENSION OUTPUT
EXTENSION is where holter_sql.so is installed.
"""
import pprint
import re
import sys

SPEC, VERSION, EXTENSION, OUTPUT = sys.argv[1:]
MESSAGE = re.compile(r'^### (\d+) `(\w+)`: (.*)$')
ROWS = re.compile(r'^### Rows of (\w+)$')
FIELD = re.compile(r'^\| (\d+) \| `(\w+)` \| (?:rows of \[(\w+)\]\([^)]*\)|(\w+)) \|')
SCHEMA = re.compile(r'schema (\d+): `application_id` (0x[0-9a-f]+)')
PROTOCOL = re.compile(r'^# The wire of Holter, protocol (\d+)$', re.M)

types, topics, rows, current = {}, {}, {}, None
with open(SPEC, encoding='utf-8') as file:
    text = file.read()
for line in text.splitlines():
    if found := MESSAGE.match(line):
        current = {}
        types[int(found[1])] = (found[2], current)
        if found[3].startswith('topic '):
            topics[found[3].removeprefix('topic ')] = found[2]
    elif found := ROWS.match(line):
        current = rows[found[1]] = []
    elif current is not None and (found := FIELD.match(line)):
        kind = ('rows', found[3]) if found[3] else found[4]
        if isinstance(current, list):
            current.append((found[2], kind))
        else:
            current[int(found[1])] = (found[2], kind)
schema = SCHEMA.search(text)

with open(OUTPUT, 'w', encoding='utf-8') as file:
    file.write('"""Tables of the wire, made by make_tables.py from proto/SPEC.md."""\n')
    for name, meaning, value in (
            ('VERSION', 'of Holter', VERSION),
            ('EXTENSION', 'where holter_sql is installed', EXTENSION),
            ('PROTOCOL', 'of the wire', int(PROTOCOL.search(text)[1])),
            ('APPLICATION_ID', 'of recordings', int(schema[2], 16)),
            ('SCHEMA', 'of recordings', int(schema[1])),
            ('TYPES', 'number: (name, {key: (field, kind)})', types),
            ('ROWS', 'table: [(column, kind)]', rows),
            ('TOPICS', 'topic: name of its messages', topics)):
        file.write(f'\n# {meaning}\n{name} = {pprint.pformat(value, width=110, sort_dicts=False)}\n')
