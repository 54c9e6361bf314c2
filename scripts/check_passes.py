#!/usr/bin/env python3
"""Holds the sources of passes against their rows in the tables of passes (every passes.def).

Of every pass: its source lies in the folder of the table, in the one under whose name the row stands if it stands
under one; rows are in the order of names; the comment on top of the source names the pass, and requires and preserves
what the row says; a text test beside it runs it and sets each of its options; a header of that name has another
includer than its own source. A pass asks for strict_fp if its licence is one that --strict-fp takes away, and only then,
and a case of its test runs it with --strict-fp. Prints one line per violation and exits 1 if there is any.
"""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Folders that tables and sources of passes may lie in.
INSIDE = ('passes', 'backends')
ROW = re.compile(r'HLO_PASS\("([^"]+)", (\w+), (.+?), (\S.*?), "[^"]*"(?:, (.+))?\)$')
# Passes that --strict-fp has do more, not less.
MORE_IF_STRICT = {'fold-in-order'}
# Passes whose rewrites ask the engine of rules.
BY_RULES = {'algsimp'}


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.read()


# What facts are called in code and in words.
FACTS = dict(re.findall(r'^ *\{(k\w+), "([\w-]+)", "', read('passes/pass_table.cc'), re.M))


def facts_of(code):
    """The words for `kAllFacts & ~kSchedule`, `kLayouts|kFusions`."""
    kept = re.sub(r'~\w+', '', code)
    words = set(FACTS.values()) if 'kAllFacts' in kept else {word for name, word in FACTS.items() if name in kept}
    return words - {FACTS[name] for name in re.findall(r'~(\w+)', code)}


def facts_said(text):
    """The same for `nothing`, `everything but the schedule and copies`, `layouts, fusions`."""
    text = ' '.join(text.split())
    if text == 'nothing':
        return set()
    kept, _, lost = text.partition('everything')
    if kept:
        return set(text.split(', '))
    return set(FACTS.values()) - set(re.sub(r'^ but (the )?', '', lost).split(' and ') if lost else [])


def comment_of(text):
    """The lines of `//` on top, without these."""
    lines = []
    for line in text.split('\n'):
        if not line.startswith('//'):
            break
        lines.append(line[2:].strip())
    return ' '.join(lines)


def contract(name, comment):
    """What the comment says the pass requires and preserves, or None."""
    own = re.search(re.escape(name) + r' requires ([\w, -]+?) and preserves ([\w, -]+?)[.:;]', comment)
    all_of_them = re.search(r'\bRequires? ([\w, -]+)\. Preserves? ([\w, -]+?)(?:, which [^.]*)?[.:]', comment)
    found = own or all_of_them
    return found and (facts_said(found.group(1)), facts_said(found.group(2)))


def files(pattern):
    """The paths in question that match, from the root."""
    return sorted(path for folder in INSIDE for path in glob.glob(f'{folder}/**/{pattern}', root_dir=ROOT, recursive=True))


def rows(table):
    """Of each row of a table the folder its source lies in, its pass, stem, and what it requires and preserves, and its
    licence."""
    folder = home = os.path.dirname(table)
    for line in read(table).split('\n'):
        if heading := re.match(r'// (\w+)/: ', line):
            folder = f'{home}/{heading.group(1)}'
        elif row := ROW.match(line):
            name, stem, requires, preserves, licence = row.groups()
            yield folder, name, stem, facts_of(requires), facts_of(preserves), licence or ''
        elif line.startswith('HLO_PASS('):
            sys.exit(f'{table}: not a row: {line}')


def sources():
    """The text and the path of each source, by what HLO_DEFINE_PASS says in it."""
    found = {}
    for path in files('*.cc'):
        text = read(path)
        for stem in re.findall(r'HLO_DEFINE_PASS\(([\w#]+),', text):
            found[stem] = path, text
    return found


def test_of(name, path):
    """The test beside a source: of the source's name, or of the pass's where the source holds more."""
    own = f'{os.path.dirname(path)}/{name.replace("-", "_")}_test.hlo'
    return own if os.path.exists(os.path.join(ROOT, own)) else path[:-3] + '_test.hlo'


def check_source(name, path, text, requires, preserves):
    """The problems of one pass and its source."""
    header = path[:-3] + '.h'
    comment = comment_of(text)
    if os.path.exists(os.path.join(ROOT, header)):
        comment = comment_of(read(header))
        including = subprocess.run(['grep', '-rl', f'#include "{header}"', 'passes', 'backends', 'tools'], cwd=ROOT,
                                   capture_output=True, text=True).stdout.split()
        if len(including) < 2:
            yield f'{header}: only {path} includes it; one source is enough'
    if name not in comment and not re.search(r'float-normalization-TYPE', comment):
        yield f'{path}: the comment on top does not name {name}'
    said = contract(name, comment)
    if not said:
        yield f'{path}: the comment on top does not say "Requires ... . Preserves ... ." of {name}'
    elif said != (requires, preserves):
        yield (f'{path}: of {name} the comment says that it requires {sorted(said[0])} and preserves {sorted(said[1])}, '
               f'its row {sorted(requires)} and {sorted(preserves)}')
    test = test_of(name, path)
    spelt = re.escape(name).replace('_', '[-_]').replace(r'\-', '[-_]')
    if not os.path.exists(os.path.join(ROOT, test)):
        yield f'{path}: no {os.path.basename(test)}'
    elif not re.search(r'--passes=\S*\b' + spelt + r'(?![\w-])', read(test)):
        yield f'{test}: no case runs {name}'


def check_options(name, path, text):
    """Options that no test sets: those in the rows of the source, and of algsimp those of its rules."""
    tests = [test_of(name, path)]
    if path == 'passes/simplify/algsimp.cc':
        text = read('passes/rules/options.cc')
        tests += sorted(glob.glob('passes/rules/*_test.hlo', root_dir=ROOT))
    runs = '\n'.join(line for test in tests for line in read(test).split('\n') if '--passes=' in line)
    for option in re.findall(r'PassOption<&\w+::\w+>\(\s*"(\w+)"', text):
        if not re.search(r'\b' + option + '=', runs):
            yield f'{path}: no case sets {option}'


def check_licence(name, path, text, licence):
    """The column against what the source asks, and whether a case shows what --strict-fp takes away."""
    taken_away = licence.startswith('Changes(')
    asks = 'strict_fp' in text or name in BY_RULES
    if asks != taken_away and name not in MORE_IF_STRICT:
        yield (f'{path}: {name} {"asks" if asks else "does not ask"} for strict_fp, and its licence is '
               f'{licence or "none: it changes no bit"}')
    tests = [test_of(name, path), *(glob.glob('passes/rules/*_test.hlo', root_dir=ROOT) if name in BY_RULES else [])]
    runs = '\n'.join(line for test in tests if os.path.exists(os.path.join(ROOT, test))
                     for line in read(test).split('\n') if 'RUN:' in line)
    if taken_away and '--strict-fp' not in runs:
        yield f'{tests[0]}: no case runs {name} with --strict-fp'


def check_table(table, defined):
    """The problems of a table and the sources of its rows, and how many rows it has."""
    problems, count, previous, checked = [], 0, ('', ''), set()
    for folder, name, stem, requires, preserves, licence in rows(table):
        count += 1
        path, text = defined.get(stem) or defined.get(re.sub(r'^FloatNormalization\w+', 'FloatNormalization##Suffix', stem), (None, None))
        if not path:
            problems.append(f'{table}: no source defines {stem}')
            continue
        if os.path.dirname(path) != folder:
            problems.append(f'{table}: {name} stands under {folder}/, its source is {path}')
        key = folder, name.replace('-', '_').lower()
        if previous[0] == folder and previous[1] > key[1]:
            problems.append(f'{table}: {name} stands behind {previous[1]}')
        previous = key
        problems += check_source(name, path, text, requires, preserves)
        problems += check_licence(name, path, text, licence)
        if path not in checked:
            problems += check_options(name, path, text)
            checked.add(path)
    return problems, count


def main():
    defined = sources()
    tables = files('passes.def')
    checked = [check_table(table, defined) for table in tables]
    problems = [problem for found, _ in checked for problem in found]
    for problem in problems:
        print(problem)
    print(f'{sum(count for _, count in checked)} passes in {len(tables)} tables, {len(problems)} violations')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
