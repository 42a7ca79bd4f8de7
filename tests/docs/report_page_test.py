#!/usr/bin/env python3
"""The report that the documentation shows is what a report is: complete in one file, with charts that say what they
mean, readable in all its colours. usage: report_page_test.py ROOT"""
import base64
import hashlib
import html.parser
import itertools
import os
import re
import sys
import unittest


def text_of(*path):
    with open(os.path.join(ROOT, *path), encoding='utf-8') as file:
        return file.read()


class Plot:
    """A chart: its label, its axes, and what its tooltips can say."""

    def __init__(self):
        self.label, self.what, self.when, self.series, self.titles = '', '', '', {}, []
        self.values, self.places, self.marks, self.times = [], [], [], {}


class Page(html.parser.HTMLParser):
    TEXTS = {'what', 'when', 'x', 'x odd', 'y'}

    def __init__(self, text):
        super().__init__()
        self.plots, self.ids, self.policy, self.loads, self.words, self.tag = [], set(), '', [], '', ''
        self.scripts, self.styles, self.kind = [], [], ''
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tag, self.kind = tag, given.get('class', '')
        self.ids.add(given.get('id'))
        self.loads += [given[name] for name in ('src', 'href', 'xlink:href', 'action') if name in given]
        if given.get('http-equiv') == 'Content-Security-Policy':
            self.policy = given['content']
        if tag == 'div' and self.kind.split()[:1] == ['plot']:
            self.plots.append(Plot())
        if tag == 'svg':
            self.plots[-1].label, self.plots[-1].times = given['aria-label'], given
        if 'data-steps' in given:
            self.plots[-1].series[given['data-name']] = given['data-steps']
        if self.kind == 'mark':
            self.plots[-1].marks.append(given['href'])

    def handle_data(self, data):
        if self.tag in ('script', 'style'):
            (self.scripts if self.tag == 'script' else self.styles).append(data)
        elif self.tag == 'title' and self.plots:
            self.plots[-1].titles.append(data)
        elif self.kind in self.TEXTS and data.strip():
            plot = self.plots[-1]
            if self.kind in ('what', 'when'):
                setattr(plot, self.kind, data)
            else:
                (plot.values if self.kind == 'y' else plot.places).append(data)

    def handle_endtag(self, tag):
        self.tag = self.kind = ''


def luminance(colour):
    """As in the Web Content Accessibility Guidelines, 2.1."""
    digits = colour[1:] if len(colour) == 7 else ''.join(2 * c for c in colour[1:])
    parts = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = text_of('docs', 'slow-link.html')
        cls.page = Page(cls.text)
        cls.style, cls.script = text_of('daemon/export/report.css'), text_of('daemon/export/report.js')

    def test_the_page_of_the_documentation_is_made_by_this_version(self):
        again = 'write it again: holter report -o docs/slow-link.html docs/slow-link.hrec'
        self.assertEqual(self.style, ''.join(self.page.styles).lstrip('\n'), again)
        self.assertEqual([self.script], self.page.scripts, again)

    def test_nothing_is_loaded_and_no_other_script_may_run(self):
        self.assertEqual([], [load[:60] for load in self.page.loads if not load.startswith(('data:image/png;', '#'))])
        self.assertNotRegex(self.style + self.script, r'@import|url\(|fetch\(|XMLHttpRequest|innerHTML|eval\(')
        digest = base64.b64encode(hashlib.sha256(self.page.scripts[0].encode()).digest()).decode()
        self.assertEqual("default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
                         f"script-src 'sha256-{digest}'", self.page.policy)

    def test_tables_are_sorted_by_all_units_that_figures_have(self):
        printed = {unit for units in re.findall(r'units\[\] = \{("[^}]*)\}', text_of('proto/quantity.c'))
                   for unit in re.findall(r'" (\w+)"', units)}
        known = set(re.findall(r'(\w+)"?: [\d]', re.search(r'var units = \{(.*?)\}', self.script, re.S).group(1)))
        self.assertIn('TiB', printed)
        self.assertEqual({'B', 's'}, printed - known)  # which are 1

    def test_each_chart_says_what_its_axes_mean(self):
        self.assertEqual(7, len(self.page.plots))
        for plot in self.page.plots:
            with self.subTest(plot.label):
                self.assertTrue(plot.label and plot.what and plot.when)
                self.assertGreater(len(plot.places), 4)
                self.assertTrue(len(plot.values) > 4 or 'Phases' in plot.label)

    def test_each_chart_has_what_its_tooltips_say(self):
        for plot in self.page.plots:
            with self.subTest(plot.label):
                self.assertTrue(plot.series or plot.titles)
                for steps in plot.series.values():
                    bins = [int(step.split(' ', 1)[0]) for step in steps.split(';')]
                    self.assertEqual(sorted(set(bins)), bins)
                    self.assertEqual((0, True), (bins[0], bins[-1] < 960))
                if 'Matrix' in plot.label:
                    self.assertRegex(plot.titles[0], r'^rank \d+ on node\d+ to rank \d+ on node\d+: [\d.]+ MiB$')
                else:
                    self.assertEqual('43500', plot.times['data-length-ms'].split('.')[0])

    def test_charts_over_time_lead_to_the_alert_that_they_mark(self):
        marked = [plot for plot in self.page.plots if plot.marks]
        self.assertEqual(5, len(marked))
        for plot in marked:
            self.assertLessEqual({href[1:] for href in plot.marks}, self.page.ids)
            self.assertTrue(any(title.startswith('alert 1: ') for title in plot.titles), plot.label)

    def test_texts_stand_out_in_the_dark_and_in_the_light(self):
        dark, light = (dict(re.findall(r'--(\w+):(#[0-9a-f]+)', part))
                       for part in re.findall(r':root\{(.*?)\}', self.style, re.S))
        for colours, text, ground in itertools.product(
                (dark, light), ('text', 'second', 'accent', 'bad', 'good', 'info'), ('bg', 'panel')):
            with self.subTest((text, ground, colours[ground])):
                self.assertGreaterEqual(contrast(colours[text], colours[ground]), 4.5)


if __name__ == '__main__':
    ROOT = sys.argv.pop(1)
    unittest.main()
