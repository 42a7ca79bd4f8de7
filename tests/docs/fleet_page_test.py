"""The plan in docs/fleet.md is what its script prints.

usage: fleet_page_test.py SOURCE [--write]
--write puts it there.
"""
import os
import re
import subprocess
import sys
import unittest

SOURCE = os.path.abspath(sys.argv[1])
PAGE = os.path.join(SOURCE, 'docs', 'fleet.md')
PLAN = re.compile(r'`(docs/fleet_plan\.py[^`]*)`[^|]*\n\n((?:\|.*\n)+)')


def printed(command):
    return subprocess.run([sys.executable, *command.split()], cwd=SOURCE, stdout=subprocess.PIPE, text=True, check=True).stdout


class Plan(unittest.TestCase):
    def test_the_table_is_what_the_command_above_it_prints(self):
        with open(PAGE, encoding='utf-8') as f:
            text = f.read()
        command, table = PLAN.search(text).groups()
        self.assertEqual(printed(command), table)

    def test_a_plan_of_half_the_windows_a_second_needs_half_the_bytes_and_no_more_of_anything(self):
        rows = [[cell.strip().replace(',', '') for cell in line.split('|')[1:-1]]
                for line in printed('docs/fleet_plan.py --nodes 20000 --jobs 400 --window 2,4').splitlines()[2:]]
        for name, often, seldom in rows:
            if name == 'nodes that a job may have':
                self.assertGreater(float(seldom), float(often), name)
            else:
                self.assertLessEqual(float(seldom), float(often), name)
            if 'MB/s' in name:
                self.assertAlmostEqual(float(often), 2 * float(seldom), delta=1.5, msg=name)

    def test_a_job_that_is_too_large_for_a_worker_is_said(self):
        self.assertIn('| workers | a job needs more than one |', printed('docs/fleet_plan.py --nodes 100000 --jobs 1 --window 1'))


if __name__ == '__main__':
    if sys.argv[2:] == ['--write']:
        with open(PAGE, encoding='utf-8') as page:
            content = page.read()
        found = PLAN.search(content)
        with open(PAGE, 'w', encoding='utf-8') as page:
            page.write(content[:found.start(2)] + printed(found.group(1)) + content[found.end(2):])
    else:
        unittest.main(argv=sys.argv[:1])
