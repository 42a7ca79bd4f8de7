#!/usr/bin/env python3
"""What a page has between two lines is what a program prints.

usage: spec_table.py [--write] PAGE BEGIN END PROGRAM [ARGUMENT...]

BEGIN and END are texts in these lines; an empty END is the end of the page. --write brings the page up to date.
"""
import subprocess
import sys


def main():
    writes = sys.argv[1] == '--write'
    page, begin, end, *command = sys.argv[1 + writes:]
    printed = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    with open(page, encoding='utf-8') as file:
        lines = file.readlines()
    first = next((i + 1 for i, line in enumerate(lines) if begin in line), None)
    last = next((i for i, line in enumerate(lines) if first and i >= first and end and end in line), None)
    if first is None or (end and last is None):
        sys.exit(f'{page}: the lines with "{begin}" and "{end}" are missing')
    if writes:
        with open(page, 'w', encoding='utf-8') as file:
            file.writelines(lines[:first] + [printed] + (lines[last:] if end else []))
    elif ''.join(lines[first:last]) != printed:
        sys.exit(f"{page}: other tables; 'ninja spec' and 'ninja spec-metrics' write those there are")


if __name__ == '__main__':
    main()
