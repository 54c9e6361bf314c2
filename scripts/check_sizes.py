#!/usr/bin/env python3
"""Bounds the sizes of files and functions.

Files over 800 lines and functions over 120 fail (tables, *.def, are exempt); files over 500 and functions
over 60 are named as warnings. Prints the ten largest files. Function bodies are found by their braces, so
the count is of lines from the signature's last line to the closing brace.

  check_sizes.py [--quiet]   --quiet: no warnings
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE_LIMIT, FILE_WISH = 800, 500
FUNCTION_LIMIT, FUNCTION_WISH = 120, 60
ENDINGS = ('.cc', '.h', '.py', '.js', '.def')
# Sources that are data or come from elsewhere as a whole.
EXEMPT = re.compile(r'\.def$|^testdata/')
# Blocks that are no functions.
NOT_FUNCTION = re.compile(r'\b(namespace|class|struct|enum|union|extern\s+"C")\b[^()]*$')


def files():
    """Sources by their endings, and programs without one."""
    out = subprocess.run(['git', '-C', ROOT, 'ls-files', '-co', '--exclude-standard', '*.cc', '*.h', '*.py', '*.js', '*.def',
                          'scripts/*', '.ci/*'], capture_output=True, text=True, check=True).stdout
    found = sorted({f for f in out.split('\n') if f and os.path.isfile(os.path.join(ROOT, f))})
    return [f for f in found if '.' in os.path.basename(f)[1:] and f.endswith(ENDINGS) or begins_as_program(f)]


def begins_as_program(path):
    with open(os.path.join(ROOT, path), 'rb') as f:
        return '.' not in os.path.basename(path) and f.read(2) == b'#!'


def blank_literals(text):
    """Comments, strings and character literals replaced by blanks, newlines kept."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^()\\ ]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
                       re.S)
    return token.sub(lambda m: re.sub(r'[^\n]', ' ', m.group()), text)


def cpp_functions(text):
    """(name, first line, lines) of every function body that is not inside another one."""
    text = blank_literals(text)
    text = re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', lambda m: re.sub(r'[^\n]', ' ', m.group()), text, flags=re.M)
    found, stack, last = [], [], 0
    for m in re.finditer(r'[{};]', text):
        if m.group() == '{':
            head = text[last:m.start()].strip()
            inside = any(kind == 'function' for kind, *_ in stack)
            is_function = not inside and ')' in head and not NOT_FUNCTION.search(head)
            name = re.search(r'([\w:~]+)\s*\(', head)
            stack.append(('function' if is_function else 'block', text.count('\n', 0, m.start()) + 1,
                          name.group(1) if name else '?'))
        elif m.group() == '}' and stack:
            kind, line, name = stack.pop()
            if kind == 'function':
                found.append((name, line, text.count('\n', 0, m.start()) + 2 - line))
        last = m.end()
    return found


def javascript_functions(text):
    text = re.sub(r"//[^\n]*|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`", lambda m: re.sub(r'[^\n]', ' ', m.group()), text)
    return cpp_functions(text)


def python_functions(text):
    import ast
    return [(n.name, n.lineno, n.end_lineno - n.lineno + 1) for n in ast.walk(ast.parse(text))
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]


FUNCTIONS = {'py': python_functions, 'js': javascript_functions}


def functions_of(path, text):
    if '.' in os.path.basename(path):
        return FUNCTIONS.get(path.rsplit('.', 1)[-1], cpp_functions)(text)
    return python_functions(text) if 'python' in text.split('\n', 1)[0] else []


def main():
    quiet = '--quiet' in sys.argv[1:]
    failures, warnings, sizes = [], [], []
    for path in files():
        if EXEMPT.search(path):
            continue
        with open(os.path.join(ROOT, path), encoding='utf-8') as f:
            text = f.read()
        lines = text.count('\n')
        sizes.append((lines, path))
        if lines > FILE_WISH:
            (failures if lines > FILE_LIMIT else warnings).append(f'{path}: {lines} lines')
        for name, line, length in functions_of(path, text):
            if length > FUNCTION_WISH:
                (failures if length > FUNCTION_LIMIT else warnings).append(f'{path}:{line}: {name} has {length} lines')
    for text in [] if quiet else warnings:
        print('warning:', text)
    for text in failures:
        print('error:', text)
    print('largest files:')
    for lines, path in sorted(sizes, reverse=True)[:10]:
        print(f'{lines:6} {path}')
    print(f'{len(sizes)} files, {sum(n for n, _ in sizes)} lines, {len(failures)} over the limits, {len(warnings)} over the wishes')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
