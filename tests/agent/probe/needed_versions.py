"""A probe is loaded into programs whose C library may be older than that of the build, in containers for example. The
versions of its functions that it needs are no newer than GLIBC_2.17, which docs/install.md promises."""
import re
import subprocess
import sys

NEWEST = (2, 17)


def needed(library):
    """{function: version of the C library that first had it so}"""
    listed = subprocess.run(['objdump', '-T', library], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {name: tuple(map(int, version.split('.')))
            for version, name in re.findall(r'\*UND\*\s+[0-9a-f]+\s+\(?GLIBC_([0-9.]+)\)?\s+(\S+)$', listed, re.M)}


def main():
    library = sys.argv[1]
    functions = needed(library)
    if not functions:
        sys.exit(f'{library}: no function of the C library was found')
    newer = {name: version for name, version in functions.items() if version > NEWEST}
    for name, version in sorted(newer.items()):
        print(f'{name} needs GLIBC_{".".join(map(str, version))}')
    dynamic = subprocess.run(['readelf', '--dynamic', library], check=True, stdout=subprocess.PIPE, text=True).stdout
    libraries = re.findall(r'\(NEEDED\).*\[(.*)\]', dynamic)
    if libraries != ['libc.so.6']:
        print(f'it needs the libraries {libraries}')
    sys.exit(bool(newer) or libraries != ['libc.so.6'])


if __name__ == '__main__':
    main()
