#!/usr/bin/env python3
"""Rewrites the generated checks of *_test.hlo files from what the tools print now.

  update_tests.py [--file-test PATH] [FILE|FOLDER...]

Without arguments all test files of the tree. Only chunks with the banner of generated checks change (a
banner without checks below it gets them), and none marked NOUPDATE. Review the result with git diff.
"""
import argparse
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--file-test', default=os.path.join(ROOT, 'build', 'release', 'file_test'),
                        help='the test program (default: that of the release build)')
    parser.add_argument('paths', nargs='*')
    options = parser.parse_args()
    if not os.access(options.file_test, os.X_OK):
        parser.error(f'{options.file_test} does not exist; build it with: scripts/build release file_test')
    paths = options.paths or subprocess.run(['git', '-C', ROOT, 'ls-files', '*_test.hlo'], capture_output=True,
                                            text=True, check=True).stdout.split()
    return subprocess.run([os.path.abspath(options.file_test), '--update', *paths],
                          cwd=None if options.paths else ROOT).returncode


if __name__ == '__main__':
    sys.exit(main())
