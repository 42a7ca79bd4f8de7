"""Reads calls.def. Shared by the two generators; see calls.def for the format."""

import collections
import re

CLASSES = {
    "send": "CALL_SEND", "recv": "CALL_RECV", "wait": "CALL_WAIT", "poll": "CALL_POLL",
    "collective": "CALL_COLLECTIVE", "one-sided": "CALL_ONE_SIDED", "io": "CALL_IO",
    "other": "CALL_OTHER",
}

Call = collections.namedtuple("Call", "number klass shape name parameters")
Parameter = collections.namedtuple("Parameter", "type name suffix")  # "const int", "counts", "[]"

LINE = re.compile(r"(\d+)\s+(\S+)\s+(\w+)\s+(\w+)\((.*)\)$")
PARAMETER = re.compile(r"(.*?[\s*])(\w+)((?:\[\])?)$")


def parameter(text):
    text = " ".join(text.split())
    if text == "...":
        return Parameter("...", "", "")
    match = PARAMETER.match(text)
    if not match:
        raise SystemExit(f"calls.def: cannot read parameter '{text}'")
    return Parameter(match.group(1).strip(), match.group(2), match.group(3))


def read(path):
    """@return list of Call, list of names of local functions"""
    joined = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip()
            if not line or line.startswith("#"):
                continue
            if line[0] == " ":
                joined[-1] += " " + line.strip()
            else:
                joined.append(line)
    calls, local = [], []
    for line in joined:
        if line.startswith("local "):
            local += line.split()[1:]
            continue
        match = LINE.match(line)
        if not match or match.group(2) not in CLASSES:
            raise SystemExit(f"calls.def: cannot read '{line}'")
        number, klass, shape, name, text = match.groups()
        parameters = [parameter(p) for p in text.split(",")] if text else []
        calls.append(Call(int(number), klass, shape, name, parameters))
    numbers = [call.number for call in calls]
    names = [call.name for call in calls] + local
    for what, items in (("number", numbers), ("name", names)):
        twice = [item for item, n in collections.Counter(items).items() if n > 1]
        if twice:
            raise SystemExit(f"calls.def: {what} given twice: {twice[0]}")
    return calls, local
