"""Each option of a program stands in its manual page, and the page names no option that is not there."""
import re
import subprocess
import sys

page, program, *arguments = sys.argv[1:]
shown = subprocess.run([program, *arguments, "--help"], capture_output=True, text=True, timeout=30,
                       stdin=subprocess.DEVNULL)
if shown.returncode != 0:
    sys.exit(f"{program} --help ended with {shown.returncode}: {shown.stderr}")
# Options begin a line of the help; elsewhere they are only mentioned.
offered = set()
for line in shown.stdout.splitlines():
    heads = re.match(r"^\s+(-.*?)(?:\s{2,}|$)", line)
    if heads:
        offered.update(re.findall(r"--[a-z][a-z-]*", heads.group(1)))
text = open(page, encoding="utf-8").read().replace("\\-", "-")
options = text.partition(".SH OPTIONS")[2].partition(".SH ")[0]
described = set()
for term in re.findall(r"^\.TP\n(.*)$", options, re.MULTILINE):
    described.update(re.findall(r"--[a-z][a-z-]*", term))
wrong = [f"{page}: {option} is not described" for option in sorted(offered - described)]
wrong += [f"{page}: {option} is described, but not in --help" for option in sorted(described - offered)]
if not offered:
    wrong.append(f"{program}: --help shows no option")
sys.exit("\n".join(wrong) or 0)
