"""Runs test cases in one browser: functions marked with @case, each with pages that hlo-viz and hlo-diff make."""
import argparse, inspect, os, subprocess, sys, tempfile, time, traceback

import models
from chromium import Browser, BrowserError, find_chromium

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
CASES = []


def case(function):
    """Marks a test: it takes a Pages object."""
    CASES.append(function)
    return function


class Failure(Exception):
    """What a test found wrong."""


def expect(condition, message):
    if not condition:
        raise Failure(message() if callable(message) else message)


def expect_equal(found, wanted, what='value'):
    expect(found == wanted, lambda: f'{what}: found {found!r}, expected {wanted!r}')


class Pages:
    """What a test works with: tools, made-up modules, and the browser."""

    def __init__(self, browser, bin_folder, folder):
        self.browser, self.bin, self.folder = browser, bin_folder, folder
        self.opened = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, name, *arguments, status=0):
        """Runs a tool; returns what it prints."""
        result = subprocess.run([os.path.join(self.bin, name), *arguments], stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, cwd=self.folder, timeout=120)
        expect(result.returncode == status,
               lambda: f'{name} {" ".join(arguments)}: exit {result.returncode}\n{result.stderr[-1000:]}')
        return result.stdout

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as f:
            f.write(text)
        return self.path(name)

    def model(self, kind, count=100):
        """The file of a module of models.py."""
        path = self.path(f'{kind}_{count}.hlo')
        return path if os.path.exists(path) else self.write(os.path.basename(path), models.KINDS[kind](count))

    def html(self, module_file, *options):
        """The page of a module; made once."""
        stem = os.path.splitext(os.path.basename(module_file))[0]
        path = self.path('_'.join([stem, *(o.strip('-').replace('=', '_').replace('/', '_') for o in options)]) + '.html')
        if not os.path.exists(path):
            self.tool('hlo-viz', *options, module_file, '-o', path)
        return path

    def open(self, path, fragment='', **options):
        page = self.browser.open(path, fragment, **options)
        self.opened.append(page)
        return page

    def close(self):
        """Closes the pages of a test; returns what they complained about."""
        problems = []
        for page in self.opened:
            problems += page.problems
            page.close()
        self.opened.clear()
        return problems


def run_case(function, pages):
    """What went wrong, or None."""
    problem = None
    try:
        function(pages)
    except (Failure, BrowserError) as error:
        at = next((f for f in reversed(traceback.extract_tb(error.__traceback__))
                   if os.path.basename(f.filename).endswith('_test.py')), None)
        problem = f'line {at.lineno}: {error}' if at else str(error)
    complaints = pages.close()
    if complaints:
        problem = '\n    '.join(filter(None, [problem, *complaints[:10]]))
    return problem


def main(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument('--bin', default=os.environ.get('HLO_BIN', 'build/release/bin'), help='folder of the tools')
    parser.add_argument('--filter', default='', help='only cases whose name contains this')
    parser.add_argument('--keep', metavar='DIR', help='make the pages here and leave them')
    parser.add_argument('-v', '--verbose', action='store_true', help='times of all cases')
    options = parser.parse_args()
    if not find_chromium():
        print('skipped: no Chromium (package chromium; CHROMIUM in the environment names one)')
        return SKIPPED
    wanted = [c for c in CASES if options.filter in c.__name__]
    failures = 0
    with tempfile.TemporaryDirectory() as temporary, Browser() as browser:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        pages = Pages(browser, os.path.abspath(options.bin), os.path.abspath(folder))
        for function in wanted:
            start = time.monotonic()
            problem = run_case(function, pages)
            if problem:
                failures += 1
                print(f'FAIL {function.__name__} ({os.path.basename(inspect.getfile(function))}): {problem}')
            elif options.verbose:
                print(f'ok   {function.__name__} {time.monotonic() - start:.1f} s')
    print(f'{len(wanted) - failures} of {len(wanted)} cases pass')
    return 1 if failures or not wanted else 0


def run(description):
    sys.exit(main(description))
