#!/usr/bin/env python3
"""Writes text files, one after the other, as a constant of a C source. usage: embed.py OUT FILE..."""
import sys

with open(sys.argv[1], "w", encoding="utf-8") as out:
    out.write("/* The layouts that are built in; made by embed.py. */\n"
              '#include "daemon/analysis/formulas/formulas.h"\n\nconst char formulas_builtin[] =\n')
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as text:
            for line in text.read().splitlines():
                out.write('    "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"\n')
    out.write("    \"\";\n")
