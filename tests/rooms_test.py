#!/usr/bin/env python3
"""Which room of the tree may use which: every #include of the product is held against a matrix.

The matrix lists the rooms from the ground up. A room may use only rooms above it in the list, so that
dependence has one direction by construction. The same table stands in docs/architecture.md.
usage: rooms_test.py ROOT
"""
import functools
import os
import re
import sys
import unittest

ANALYSIS = "daemon/analysis/"
TABLES = ANALYSIS + "tables"
# What every room may use besides those that it names.
EVERYWHERE = {"include/holter"}

# room -> rooms that it uses, from the ground up.
MATRIX = {
    "include/holter": "",
    "proto": "",
    "agent/probe": "",
    # Analyses: pure functions. They use each other and nothing else of the tree.
    TABLES: "",
    ANALYSIS + "alignment": "",
    ANALYSIS + "clocks": "tables",
    ANALYSIS + "matching": "tables clocks",
    ANALYSIS + "events": "tables clocks",
    ANALYSIS + "sums": "tables",
    ANALYSIS + "groups": "tables",
    ANALYSIS + "latency": "tables matching",
    ANALYSIS + "regions": "tables",
    ANALYSIS + "scopes": "tables matching",
    ANALYSIS + "attribution": "tables sums latency",
    ANALYSIS + "hang": "tables sums",
    ANALYSIS + "waits": "tables matching sums hang",
    ANALYSIS + "dependencies": "tables",
    ANALYSIS + "communities": "tables",
    ANALYSIS + "phases": "tables events",
    ANALYSIS + "commgram": "tables communities phases",
    ANALYSIS + "network": "tables",
    ANALYSIS + "network/remap": "tables network",
    ANALYSIS + "formulas": "",
    # The daemon.
    "daemon/encoding": "matching events",
    "daemon/topology": "proto tables network",
    "daemon/storage/block": "proto tables",
    "daemon/storage": "proto tables network daemon/storage/block",
    "daemon/storage/recordings": "proto tables daemon/storage/block daemon/storage",
    "daemon/storage/sql": "proto tables network daemon/storage",
    "daemon/import": "tables network network/remap daemon/topology daemon/storage",
    "daemon/import/trace": "tables dependencies network daemon/encoding daemon/topology daemon/import",
    "daemon/import/otf2": "proto tables daemon/storage daemon/import daemon/import/trace",
    "daemon/import/dumpi": "tables daemon/import daemon/import/trace daemon/import/otf2",
    "daemon/import/csv": "proto tables daemon/import daemon/import/trace",
    "daemon/export": "proto tables matching dependencies daemon/storage daemon/storage/sql",
    "daemon/alert": "proto tables daemon/topology",
    "daemon/job/rows": "tables matching events sums latency hang",
    "daemon/job/latency": "tables matching latency regions daemon/job/rows",
    "daemon/job/phases": "proto tables events communities phases commgram daemon/job/rows",
    "daemon/job/network": "proto tables latency network daemon/topology daemon/job/rows",
    "daemon/job/hang": "tables hang daemon/alert daemon/job/rows",
    "daemon/job/growth": (
        "proto tables sums latency scopes attribution daemon/alert daemon/job/rows "
        "daemon/job/latency daemon/job/network"),
    "daemon/job": (
        "proto tables clocks sums groups latency hang waits daemon/topology "
        "daemon/storage/block daemon/storage daemon/alert daemon/job/rows "
        "daemon/job/latency daemon/job/phases daemon/job/network "
        "daemon/job/hang daemon/job/growth"),
    "daemon/server": (
        "proto tables sums commgram network network/remap daemon/topology "
        "daemon/storage daemon/alert daemon/job/phases daemon/job/network "
        "daemon/job"),
    "daemon/metrics": "proto tables daemon/job daemon/server",
    "daemon/fleet": "proto tables clocks daemon/storage daemon/alert daemon/job daemon/server",
    "daemon/replay": (
        "proto daemon/topology daemon/storage daemon/alert daemon/job daemon/server"),
    "daemon": (
        "proto daemon/topology daemon/storage daemon/alert daemon/job daemon/server "
        "daemon/metrics daemon/fleet daemon/replay"),
    # The agent, and the commands of `holter`.
    "agent/terminal": "proto daemon/storage",
    "agent/launch": "proto daemon/storage agent/terminal",
    "agent/host": "proto agent/launch",
    "agent/node": "proto tables clocks matching events daemon/encoding agent/launch agent/host",
    "agent/cli/text": "proto tables daemon/storage/recordings",
    "agent/cli": (
        "proto dependencies network network/remap daemon/topology daemon/storage "
        "daemon/storage/recordings daemon/storage/sql daemon/import daemon/import/trace "
        "daemon/import/otf2 daemon/import/dumpi daemon/import/csv daemon/export daemon/fleet "
        "agent/terminal agent/launch agent/cli/text"),
    "agent/cli/compare": (
        "proto tables alignment network daemon/storage agent/terminal agent/cli/text agent/cli"),
    "agent/cli/remap": "proto network network/remap agent/terminal agent/cli",
    "agent/cli/top": "proto tables agent/terminal agent/cli/text agent/cli",
    # The viewer: facts (model), scenes (layout, views), choices (ui), pixels (draw).
    "viewer/model": "proto tables alignment sums dependencies network",
    "viewer/places": "viewer/model",
    "viewer/layout": "proto tables network",
    "viewer/ui": "tables formulas viewer/model viewer/places viewer/layout",
    "viewer/draw": "viewer/layout",
    "viewer/link": "proto viewer/model",
    "viewer/views/common": "tables viewer/model viewer/layout viewer/ui",
    "viewer/views": (
        "proto tables dependencies viewer/model viewer/places viewer/layout viewer/ui "
        "viewer/views/common"),
    "viewer": (
        "proto network viewer/model viewer/places viewer/layout viewer/ui viewer/draw viewer/link "
        "viewer/views"),
}

# What analyses may include of the system: nothing that reads a clock, a file or a socket.
PURE = {"ctype.h", "errno.h", "float.h", "inttypes.h", "limits.h", "math.h", "metis.h",
        "muParserDLL.h", "omp.h", "stdalign.h", "stdarg.h", "stdatomic.h", "stdbool.h", "stddef.h",
        "stdint.h", "stdio.h", "stdlib.h", "string.h"}

MAX_FILES = 45


def short(name):
    """The full name of a room as the matrix abbreviates it."""
    return ANALYSIS + name if ANALYSIS + name in MATRIX else name


def allowed(room):
    return EVERYWHERE | {room} | {short(r) for r in MATRIX[room].split()}


def room_of(path):
    """The room of a file: its folder; the folders of single views are one room together."""
    folder = os.path.dirname(path)
    if folder.startswith("viewer/views/") and folder != "viewer/views/common":
        return "viewer/views"
    return folder


def sources(root):
    for top in ("include", "proto", "agent", "daemon", "viewer"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def text_of(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


exists = functools.lru_cache(None)(os.path.exists)


def includes(root, path, text):
    """Every #include of the text of a file: (name, file of ours or None)."""
    for name in re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', text, re.M):
        yield name, next((c for c in (name, "include/" + name,
                                      os.path.join(os.path.dirname(path), name))
                          if exists(os.path.join(root, c))), None)


def breaches(root, path, text):
    """Sentences about what is against the matrix in the text of a file, empty when nothing is."""
    room = room_of(path)
    if room not in MATRIX:
        return [f"{path}: the room {room} is not in the matrix"]
    found = []
    for name, ours in includes(root, path, text):
        if ours and room_of(ours) not in allowed(room):
            found.append(f"{path}: {room} may not use {room_of(ours)} ({name})")
        if not ours and room.startswith(ANALYSIS) and name not in PURE:
            found.append(f"{path}: an analysis is pure and may not include <{name}>")
        if name.startswith("SDL") and room != "viewer/draw":
            found.append(f"{path}: only viewer/draw knows SDL")
    return found


class Rooms(unittest.TestCase):
    root = "."

    def test_the_matrix_points_downwards_only(self):
        seen = set()
        for room in MATRIX:
            for used in allowed(room) - {room}:
                self.assertIn(used, seen, f"{room} uses {used}, which does not stand before it")
            seen.add(room)

    def test_every_include_is_allowed_by_the_matrix(self):
        found = [breach for path in sources(self.root)
                 for breach in breaches(self.root, path, text_of(self.root, path))]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_no_room_of_the_matrix_is_empty(self):
        rooms = {room_of(p) for p in sources(self.root)}
        self.assertEqual(sorted(set(MATRIX) - rooms), [])

    def test_no_allowance_is_unused(self):
        used = {room: set() for room in MATRIX}
        for path in sources(self.root):
            for _, ours in includes(self.root, path, text_of(self.root, path)):
                if ours:
                    used[room_of(path)].add(room_of(ours))
        idle = [f"{room} does not use {r}" for room in MATRIX
                for r in sorted(allowed(room) - EVERYWHERE - {room} - used[room])]
        self.assertEqual(idle, [])

    def test_an_analysis_that_includes_a_daemon_header_is_found(self):
        self.assertTrue(self.planted(ANALYSIS + "latency/trend.c",
                                     '#include "daemon/job/job.h"', "may not use daemon/job"))

    def test_an_analysis_that_includes_a_socket_is_found(self):
        self.assertTrue(self.planted(ANALYSIS + "hang/hang.c", "#include <sys/socket.h>",
                                     "is pure"))

    def test_a_view_that_includes_sdl_is_found(self):
        self.assertTrue(self.planted("viewer/views/live/view_live.c", "#include <SDL.h>",
                                     "only viewer/draw knows SDL"))

    def planted(self, path, line, sentence):
        """Whether a line planted into the text of a file is found, and nothing else changes."""
        text = text_of(self.root, path)
        before = len(breaches(self.root, path, text))
        after = breaches(self.root, path, text + line + "\n")
        return len(after) == before + 1 and sentence in after[-1]

    def test_every_room_says_what_it_is(self):
        for room in MATRIX:
            if room.startswith("include"):
                continue
            page = os.path.join(self.root, room, "README.md")
            self.assertTrue(os.path.exists(page), f"{room} has no README.md")
            with open(page, encoding="utf-8") as text:
                lines = text.read().splitlines()
            self.assertTrue(5 <= len(lines) <= 40, f"{page} has {len(lines)} lines")

    def test_no_room_is_crowded(self):
        count = {}
        for path in sources(self.root):
            count[os.path.dirname(path)] = count.get(os.path.dirname(path), 0) + 1
        self.assertEqual({r: n for r, n in count.items() if n > MAX_FILES}, {})

    def test_no_two_sources_have_the_same_name(self):
        seen = {}
        for path in sources(self.root):
            name = os.path.basename(path)
            self.assertNotIn(name, seen, f"{path} and {seen.get(name)}")
            seen[name] = path

    def test_every_source_opens_with_what_it_is(self):
        for path in sources(self.root):
            with open(os.path.join(self.root, path), encoding="utf-8") as text:
                self.assertTrue(text.readline().startswith("/*"), f"{path} does not say what it is")

    def test_every_class_of_system_tests_is_run(self):
        folder = os.path.join(self.root, "tests/system")
        with open(os.path.join(folder, "meson.build"), encoding="utf-8") as text:
            run = set(re.findall(r"\['(\w+)', '(\w+)', '\w+'\]", text.read()))
        for name in sorted(os.listdir(folder)):
            if not name.endswith("_test.py"):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as text:
                classes = re.split(r"^class ", text.read(), flags=re.M)[1:]
            bases = " ".join(re.findall(r"\((.*)\):", "\n".join(c.split("\n", 1)[0] for c in classes)))
            for body in classes:
                word = re.match(r"\w+", body)[0]
                if "    def test_" in body and not re.search(rf"\b{word}\b", bases):
                    self.assertIn((name.removesuffix("_test.py"), word), run)

    def test_the_architecture_page_has_the_same_table(self):
        with open(os.path.join(self.root, "docs/architecture.md"), encoding="utf-8") as text:
            rows = re.findall(r"^\| `([^`]+)/?` \| [^|]* \| ([^|]*) \|$", text.read(), re.M)
        page = {room.rstrip("/"): {short(r) for r in re.findall(r"`([^`]+)`", uses)}
                for room, uses in rows}
        self.assertEqual(list(page), list(MATRIX))
        for room in MATRIX:
            self.assertEqual(page[room], allowed(room) - EVERYWHERE - {room}, room)


if __name__ == "__main__":
    Rooms.root = sys.argv.pop(1)
    unittest.main()
