#!/usr/bin/env python3
"""Counts what code knows about opcodes beside the op table, against a list that may only shrink.

A fact about an opcode is a column of ir/ops.def, a behaviour a row of a table that names the opcode and a function.
Counted per file: labels `case OpKind::...`, and sets of three or more opcodes: lists of nothing but opcodes, and one value
compared with three or more in one statement. Files that differ from scripts/op_switches.txt are printed, exit code 1.

  check_op_switches.py            compares
  check_op_switches.py --update   rewrites the list, unless a sum has grown
  check_op_switches.py --show     prints each place
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join(ROOT, 'scripts', 'op_switches.txt')
FOLDERS = ('ir', 'parser', 'passes', 'backends', 'tools')
KIND = r'(?:hlo::)?OpKind::\w+'
LABEL = re.compile(r'\bcase\s+' + KIND)
LIST_OF_KINDS = re.compile(r'\{\s*(?:' + KIND + r'\s*,\s*){2,}' + KIND + r'\s*,?\s*\}')
COMPARISON = re.compile(r'([\w.>()\[\]*-]+?)\s*([!=]=)\s*' + KIND)
ALL_KINDS = re.compile(r'\busing\s+enum\s+' + r'(?:hlo::)?OpKind')


def sources():
    for folder in FOLDERS:
        for path in sorted(glob.glob(f'{folder}/**/*', root_dir=ROOT, recursive=True)):
            if re.search(r'\.(cc|h|inc)$', path) and not re.search(r'_test\.cc$|^tools/testing/', path):
                yield path


def value_of(text):
    """What is compared, without parentheses that open before it."""
    while text.startswith('(') or text.count('(') > text.count(')'):
        text = text.split('(', 1)[1]
    return text


def sets_by_comparison(text):
    """Where in one statement one value is compared with three opcodes or more."""
    previous, count, start = None, 0, 0
    for found in COMPARISON.finditer(text):
        key = value_of(found.group(1)), found.group(2)
        between = text[previous[1]:found.start()] if previous else ';'
        if previous and previous[0] == key and not re.search(r'[;{}?]', between):
            count += 1
        else:
            count, start = 1, found.start()
        previous = key, found.end()
        if count == 3:
            yield start


def places(path):
    """Offsets and kinds of what is counted in a file, and its text."""
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        text = re.sub(r'//[^\n]*', lambda m: ' ' * len(m.group()), f.read())
    found = [(m.start(), 'label') for m in LABEL.finditer(text)]
    found += [(m.start(), 'set') for m in LIST_OF_KINDS.finditer(text)]
    found += [(at, 'set') for at in sets_by_comparison(text)]
    found += [(m.start(), 'set') for m in ALL_KINDS.finditer(text)]
    return sorted(found), text


def read_list():
    allowed = {}
    with open(LIST, encoding='utf-8') as f:
        for line in f:
            if line.strip() and not line.startswith('#'):
                path, labels, sets = line.split()
                allowed[path] = int(labels), int(sets)
    return allowed


def total(counts):
    return tuple(sum(pair[i] for pair in counts.values()) for i in (0, 1))


def update(counts, allowed):
    now, before = total(counts), total(allowed)
    if now[0] > before[0] or now[1] > before[1]:
        print(f'{now[0]} labels and {now[1]} sets of opcodes, {before[0]} and {before[1]} are allowed')
        return 1
    with open(LIST, 'w', encoding='utf-8') as f:
        f.write('# Labels and sets of opcodes outside tables: scripts/check_op_switches.py. The sums may only fall.\n')
        for path, (labels, sets) in sorted(counts.items()):
            f.write(f'{path} {labels} {sets}\n')
    return 0


def main():
    counts = {}
    for path in sources():
        found, text = places(path)
        if found:
            counts[path] = tuple(sum(kind == what for _, kind in found) for what in ('label', 'set'))
        if '--show' in sys.argv:
            for at, kind in found:
                line = text.count('\n', 0, at) + 1
                print(f'{path}:{line}: {kind}: {text.split(chr(10))[line - 1].strip()}')
    allowed = read_list()
    if '--update' in sys.argv:
        return update(counts, allowed)
    problems = 0
    for path in sorted(set(counts) | set(allowed)):
        now, before = counts.get(path, (0, 0)), allowed.get(path, (0, 0))
        if now == before:
            continue
        problems += 1
        more = now[0] > before[0] or now[1] > before[1]
        print(f'{path}: {now[0]} labels and {now[1]} sets of opcodes, scripts/op_switches.txt says {before[0]} and {before[1]}: '
              + ('make it a column of ir/ops.def or a table of functions (ir/by_op_kind.h)' if more
                 else 'fewer is good, write it down with --update'))
    print(f'{total(counts)[0]} labels, {total(counts)[1]} sets of opcodes, {problems} violations')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
