#!/usr/bin/env python3
"""Counts the files that an elementwise opcode is named in: what a new one like it has to touch.

Tests, their tools, scripts and documents do not count. Prints the files of each opcode of LIMITS (or of those given) and
exits 1 if there are more than its limit.

  check_op_places.py [OPCODE...]
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ('ir', 'parser', 'passes', 'backends', 'tools')
# A function with a formula for vectors of its own, and opcodes that instructions compute: of floats and of integers.
LIMITS = {'cbrt': 6, 'round-nearest-afz': 4, 'mulhi': 4}


def kinds():
    """The name in code of each opcode."""
    with open(os.path.join(ROOT, 'ir', 'ops.def'), encoding='utf-8') as f:
        return {text: kind for kind, text in re.findall(r'^HLO_OP\((\w+),\s*"([^"]+)"', f.read(), re.M)}


def files_naming(text, kind):
    # The opcode, its enumerator, and functions and tables called by it (EmitCbrt64, math::Cbrt).
    named = re.compile(r'"' + re.escape(text) + r'"|(?:\b|Emit|_)' + kind + r'(?:32|64|Of)?\b|\b' + re.escape(text) + r'\b')
    for folder in FOLDERS:
        for path in sorted(glob.glob(f'{folder}/**/*', root_dir=ROOT, recursive=True)):
            # The library's table of functions needs no row for what has no name in the documents.
            if re.search(r'\.(cc|h|inc|def)$', path) and not re.search(r'_test\.cc$|^tools/(testing|library)/', path):
                with open(os.path.join(ROOT, path), encoding='utf-8') as f:
                    if named.search(f.read()):
                        yield path


def main():
    kind_of = kinds()
    over = 0
    for text in sys.argv[1:] or LIMITS:
        found = list(files_naming(text, kind_of[text]))
        limit = LIMITS.get(text)
        over += limit is not None and len(found) > limit
        print(f'{text}: {len(found)} files' + (f', at most {limit}' if limit else '') + ': ' + ' '.join(found))
    return 1 if over else 0


if __name__ == '__main__':
    sys.exit(main())
