#!/usr/bin/env python3
"""Counts numbers without a name in the compiling backends, which may only become fewer.

A number above 2 in code has a name if a constant, a variable or a field is initialised with it (`kMost = 64`,
`.lanes = 16`): the name says what it is, and for figures of machines the field says whose. Sizes of containers in
template arguments, widths of types and radixes do not count, nor do tests and tables (.def, .inc). Prints the counts of folders, with -v each place;
exits 1 if a folder has more than MOST says; with fewer, MOST is to be lowered.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Folders, some together as code moves from one to the other, and how many they may have. What is left of products and
# structured ops are places within vectors and words, and widths of elements as cases of templates.
MOST = {
    ('backends/compile', 'backends/cpu'): 0,
    ('backends/kernel',): 0,
    ('backends/llvm',): 0,
    ('backends/tile',): 0,
    ('backends/products', 'backends/products/common', 'backends/products/dot', 'backends/products/conv'): 343,
    ('backends/structured',): 109,
}
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
NUMBER = re.compile(r"(?<![\w.])(0[xX][\da-fA-F']+(?:\.[\da-fA-F]*)?(?:[pP][+-]?\d+)?|\d[\d']*\.?\d*(?:[eE][+-]?\d+)?)[uUlLfF]*(?![\w.])")
# What gives a name to all numbers in it.
NAMED = [
    re.compile(r'\b(?:static\s+|inline\s+)*constexpr\b[^;()]*?=(?:[^;]|\{[^}]*\})*?;', re.S),  # constants, tables
    re.compile(r'\bconst\s+[\w:<>\s*&]+?\bk[A-Z]\w*\s*(?:\[[^]]*\])?\s*=[^;]*;', re.S),
    re.compile(r'^\s*(?:(?:static|inline|constexpr|const)\s+)*(?:u?int\d*_t|int|unsigned|size_t|float|double)\s+'
               r'\w+\s*=\s*[^;,?]*(?:,\s*\w+\s*=\s*[^;,?]*)*;', re.M),
    re.compile(r'\.\w+ = [^,{}]*'),
    re.compile(r'(?:<|, )\d+>|\[\d+\]|\balignas\(\d+\)'),  # sizes, elements
    re.compile(r'\bbits\b(?:\(\))? ?[<>=!]=? ?\d+'),  # widths of types
    re.compile(r'(?:[gG]etAs|consume)Integer\(\d+'),  # radixes
    re.compile(r'\b_tile_\w+\([^)]*\)'),  # numbers of registers
    re.compile(r'^\s*#.*$', re.M),
    re.compile(r'\benum\b[^;]*;', re.S),
]


def blank(match):
    return re.sub(r'[^\n]', ' ', match.group(0))


def value(text):
    text = text.replace("'", '')
    if text[:2].lower() == '0x':
        return float.fromhex(text) if 'p' in text.lower() or '.' in text else int(text, 16)
    return float(text)


def unnamed(path):
    """Line and number of each place."""
    with open(path, encoding='utf-8') as file:
        text = COMMENT_OR_TEXT.sub(blank, file.read())
    for pattern in NAMED:
        text = pattern.sub(blank, text)
    for match in NUMBER.finditer(text):
        if value(match.group(1)) > 2:
            yield text.count('\n', 0, match.start()) + 1, match.group(0)


def main():
    bad = False
    for folders, most in MOST.items():
        count = 0
        for folder in folders:
            for name in sorted(os.listdir(os.path.join(ROOT, folder))):
                if not name.endswith(('.h', '.cc')) or '_test.' in name or name.startswith('test_'):
                    continue
                for line, number in unnamed(os.path.join(ROOT, folder, name)):
                    count += 1
                    if '-v' in sys.argv[1:]:
                        print(f'{folder}/{name}:{line}: {number}')
        what = 'as allowed'
        if count > most:
            what, bad = f'{most} allowed: new ones need a name, a field of a machine, or an option (-v shows all)', True
        elif count < most:
            what = f'{most} allowed: lower MOST'
        print(f'{folders[0]:20} {count:4} numbers without a name, {what}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
