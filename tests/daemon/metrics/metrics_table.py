#!/usr/bin/env python3
"""The table of metrics in docs/metrics.md is that of the code.

usage: metrics_table.py METRICS_SPEC PAGE [--write]
"""
import subprocess
import sys

BEGIN, END = '<!-- metrics: made by metrics-spec -->\n', '<!-- end of metrics -->\n'


def main():
    program, page = sys.argv[1:3]
    table = subprocess.run([program], stdout=subprocess.PIPE, check=True, text=True).stdout
    with open(page, encoding='utf-8') as file:
        text = file.read()
    before, begin, rest = text.partition(BEGIN)
    present, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f'{page}: the marks of the table are missing')
    if sys.argv[3:] == ['--write']:
        with open(page, 'w', encoding='utf-8') as file:
            file.write(before + begin + table + end + after)
    elif present != table:
        sys.exit(f"{page}: other metrics; 'ninja spec-metrics' writes those there are")


if __name__ == '__main__':
    main()
