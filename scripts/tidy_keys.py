#!/usr/bin/env python3
"""What clang-tidy says of a file depends on: a key for each.

  tidy_keys.py BUILD FILE...

prints "KEY FILE" lines. The key is a checksum of the checks, of the compiler's arguments and of everything that the compiler
read for the file's object in BUILD. It is the same in every checkout. A file without an object gets the key "-".
"""
import hashlib
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def digest(data):
    return hashlib.sha256(data).hexdigest()


def main():
    build, files = os.path.abspath(sys.argv[1]), sys.argv[2:]
    with open(os.path.join(build, 'compile_commands.json')) as commands:
        entries = {}
        for entry in json.load(commands): entries[os.path.relpath(entry['file'], ROOT)] = entry['command']
    wanted = {file: entries[os.path.normpath(file)] for file in files if os.path.normpath(file) in entries}
    objects = {file: re.search(r' -o (\S+)', command)[1] for file, command in wanted.items()}
    listed = subprocess.run(['ninja', '-C', build, '-t', 'deps', *objects.values()], capture_output=True, text=True).stdout
    read_for, current = {}, []
    for line in listed.splitlines():
        head = re.match(r'(\S+): #deps ', line)
        if head: read_for[head[1]] = current = []
        elif line.startswith('    '): current.append(line.strip())
    with open(os.path.join(ROOT, '.clang-tidy'), 'rb') as checks: common = digest(checks.read())
    with open(os.path.join(ROOT, 'scripts/tidy'), 'rb') as script: common += digest(script.read())
    common += subprocess.run(['clang-tidy-19', '--version'], capture_output=True, text=True, check=True).stdout
    sums = {}

    def sum_of(path):
        if path not in sums:
            with open(path, 'rb') as file: sums[path] = digest(file.read())
        return sums[path]

    for file in files:
        read = read_for.get(objects.get(file))
        if not read:
            print('-', file)
            continue
        text = [common, os.path.normpath(file), wanted[file].replace(ROOT + '/', '').replace(ROOT, '')]
        for path in sorted({os.path.normpath(os.path.join(build, name)) for name in read}):
            text.append(sum_of(path) + ' ' + (os.path.relpath(path, ROOT) if path.startswith(ROOT + '/') else path))
        print(digest('\n'.join(text).encode()), file)


if __name__ == '__main__':
    main()
