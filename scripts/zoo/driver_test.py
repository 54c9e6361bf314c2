#!/usr/bin/env python3
"""scripts/model_zoo around its judge: packages that are missing, makers that fail or die, several jobs, what is remembered.

A stand-in takes the place of the Python with JAX. Takes --bin DIR of the programs.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BINARIES = 'build/release/bin'
MODULE = '''HloModule m

ENTRY %main (x: f32[7]) -> f32[7] {
  %x = f32[7]{0} parameter(0)
  ROOT %r = f32[7]{0} tanh(%x)
}
'''
# Answers as make.py does: models named in $DEAD end the process, those in $UNMADE cannot be made. As XLA it refuses all.
STAND_IN = '''#!/usr/bin/env python3
import json, os, sys
if sys.argv[1] == '-c': sys.exit('ModuleNotFoundError: No module named jax' if os.environ.get('LACKS') else 0)
for line in sys.stdin:
    job = json.loads(line)
    if 'path' not in job: answer = {'status': 'refused', 'why': ''}
    elif job['model'] == os.environ.get('DEAD'): sys.exit(1)
    elif job['model'] == os.environ.get('UNMADE'): answer = {'status': 'failed', 'why': 'no such layer'}
    else:
        for ending in ('', '-optimised') if job['optimised'] else ('',):
            with open(job['path'] + ending + '.json', 'w') as f: json.dump({'inputs': ['normal(0,1)']}, f)
            with open(job['path'] + ending + '.hlo', 'w') as f: f.write(MODULE)
        answer = {'status': 'made', 'why': ''}
    print(json.dumps(answer), flush=True)
'''.replace('import json', f'MODULE = {MODULE!r}\nimport json', 1)

class Driver(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = kept.name
        self.python = os.path.join(self.folder, 'python')
        with open(self.python, 'w', encoding='utf-8') as f: f.write(STAND_IN)
        os.chmod(self.python, 0o755)

    def zoo(self, *options, **environment):
        """Exit code and lines of a run over the modules of two models."""
        command = [sys.executable, os.path.join(HERE, '../model_zoo'), '--python', self.python, '--folder', self.folder, '--filter', '^(gan|vae)-', *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, 'HLO_BIN': BINARIES, **environment})
        return done.returncode, (done.stdout + done.stderr).strip().split('\n')

    def verdicts(self):
        with open(os.path.join(self.folder, 'real/verdicts.jsonl'), encoding='utf-8') as f: return [json.loads(line) for line in f]

    def test_missing_packages_skip(self):
        code, lines = self.zoo(LACKS='1')
        self.assertEqual(code, 77)
        self.assertIn('No module named jax', lines[0])
        for python in ('/usr/bin/false', '/nowhere'): self.assertEqual(self.zoo('--python', python)[0], 77)

    def test_all_is_made_run_and_compiled(self):
        code, lines = self.zoo()
        self.assertEqual((code, lines[-1]), (0, '8 passed, 0 failed'))
        self.assertIn('8 of 8 run; compared with: interpreter 8', lines)
        self.assertEqual(len(self.verdicts()), 8 + 8 * 3 * 4)
        self.assertEqual(sum('8 of 8 compiled' in line or 'left out' in line for line in lines), 12)
        self.assertTrue(any('8 of 8 compiled' in line for line in lines))

    def test_jobs_change_nothing(self):
        code, lines = self.zoo('--only=runs', '--jobs=3')
        self.assertEqual((code, lines[-1]), (0, '8 passed, 0 failed'))
        self.assertEqual([line.split()[1] for line in lines[:8]], [line.split()[1] for line in self.zoo('--only=runs', '--again')[1][:8]])

    def test_the_optimised_form_is_judged_too(self):
        code, lines = self.zoo('--optimised', '--only=runs', '--quick')
        self.assertEqual((code, lines[-1]), (0, '10 passed, 0 failed'))
        self.assertEqual(sorted(line.split()[1] for line in lines if '-optimised' in line), ['gan-forward-1-f32-optimised', 'vae-forward-1-f32-optimised'])

    def test_makers_that_fail_or_die_are_told_and_the_rest_goes_on(self):
        code, lines = self.zoo('--quick', UNMADE='gan')
        self.assertEqual((code, lines[-1]), (1, '4 passed, 4 failed'))
        self.assertIn('FAIL gan-forward-1-f32: not made: no such layer', lines)
        for path in glob.glob(os.path.join(self.folder, 'real/*.hlo')): os.remove(path)
        code, lines = self.zoo('--quick', DEAD='vae')
        self.assertEqual((code, lines[-1]), (1, '4 passed, 4 failed'))
        self.assertIn('FAIL vae-forward-1-f32: not made: make.py died', lines)

    def test_verdicts_hold_for_the_same_module_arguments_and_options(self):
        count = lambda *options: (self.zoo('--quick', *options), len(self.verdicts()))[1]
        self.assertEqual(count(), 8)
        self.assertEqual(count(), 8)
        for path in glob.glob(os.path.join(self.folder, 'real/gan-*.json')):
            with open(path, 'w', encoding='utf-8') as f: json.dump({'inputs': ['ones']}, f)
        self.assertEqual(count(), 12)
        with open(glob.glob(os.path.join(self.folder, 'real/vae-*.hlo'))[0], 'a', encoding='utf-8') as f: f.write('// more\n')
        self.assertEqual(count(), 13)
        self.assertEqual(count('--', '--threads=1'), 21)

    def test_a_wrong_module_fails(self):
        self.zoo('--make-only')
        with open(os.path.join(self.folder, 'real/gan-forward-1-f32.hlo'), 'w', encoding='utf-8') as f: f.write(MODULE.replace('f32[7]{0} tanh', 'f32[8]{0} tanh'))
        code, lines = self.zoo()
        self.assertEqual((code, lines[-1]), (1, '7 passed, 1 failed'))
        self.assertTrue(any(line.startswith('FAIL gan-forward-1-f32 ') and 'exit 3' in line for line in lines))

    def test_nothing_new_begins_when_time_is_up(self):
        code, lines = self.zoo('--seconds=0', '--only=runs')
        self.assertEqual(code, 0)
        self.assertIn('0 of 8 run; compared with: ', lines)

if __name__ == '__main__':
    if '--bin' in sys.argv:
        at = sys.argv.index('--bin')
        BINARIES = sys.argv[at + 1]
        del sys.argv[at:at + 2]
    BINARIES = os.path.abspath(BINARIES)
    unittest.main()
