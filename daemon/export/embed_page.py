#!/usr/bin/env python3
"""Writes the style sheet and the script of reports as constants of a C source, and the hash by which the page permits
this script and no other. usage: embed_page.py OUT STYLE SCRIPT"""
import base64
import hashlib
import sys


def constant(name, text):
    """An array of its bytes: C compilers need not take strings as long as these."""
    values = [str(byte) if byte < 128 else f"'\\x{byte:02x}'" for byte in text.encode()] + ["0"]
    rows = (values[i:i + 20] for i in range(0, len(values), 20))
    return f"const char {name}[] = {{\n" + "".join(f"    {', '.join(row)},\n" for row in rows) + "};\n"


out, style, script = sys.argv[1], *(open(name, encoding="utf-8").read() for name in sys.argv[2:])
digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
with open(out, "w", encoding="utf-8") as file:
    file.write("/* The style sheet and the script of reports; made by embed_page.py. */\n"
               '#include "daemon/export/report_assets.h"\n\n'
               + constant("report_style", style) + "\n" + constant("report_script", script)
               + f'\nconst char report_script_hash[] = "sha256-{digest}";\n')
