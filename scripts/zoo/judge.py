"""What becomes of a module: compiled at every level and for every machine, run at every level, compared."""
import json
import os
import re
import subprocess
import time

LEVELS = ('-O0', '-O1', '-O2', '-O3')
MACHINES = ('haswell', 'x86-64', 'skylake-avx512')  # besides the one at hand
# What may differ between two right results, of sums in other orders; bf16 keeps 8 bits, and layers follow each other.
BOUNDS = {'f32': 2e-3, 'f64': 1e-6, 'f16': .02, 'bf16': .08, 'mixed': .08}
MOST_BYTES = '8G'
INTERPRETED_FLOPS = 3e8  # up to here the interpreter is quick
COMPILE_SECONDS, RUN_SECONDS = 300, 600
TOO_LARGE = 8  # exit code of hlo-run: a limit

class Judge:
    """`peer`: XLA where interpreting takes too long; `levels` are run, on `machines` code is made."""

    def __init__(self, folder, binaries, peer=None, levels=LEVELS, machines=MACHINES, flops=INTERPRETED_FLOPS, options=()):
        self.folder, self.run_tool, self.opt_tool = folder, os.path.join(binaries, 'hlo-run'), os.path.join(binaries, 'hlo-opt')
        self.peer, self.levels, self.machines, self.flops, self.options = peer, levels, machines, flops, list(options)

    def call(self, arguments, seconds):
        """Exit code and first line of what was said."""
        command = [self.run_tool, '--print=none', '-q', f'--memory-limit={MOST_BYTES}', *self.options, *arguments]
        try: run = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False, cwd=self.folder)
        except subprocess.TimeoutExpired: return 124, f'longer than {seconds} s'
        said = [line for line in (run.stdout + run.stderr).strip().split('\n') if line]
        return run.returncode, ' | '.join(said[:4])[:300]

    def reference(self, module, inputs, kept, expected):
        """Who gave the results in `expected`, or what went wrong; saves the arguments, too."""
        if self.cost(module) <= self.flops:
            code, said = self.call(['--platform=interpreter', *inputs, f'--save-inputs=@{kept}', f'--output=@{expected}', module], RUN_SECONDS)
            return ('interpreter', None) if code == 0 else (None, (code, f'interpreter: {said}'))
        code, said = self.call([self.levels[-1], *inputs, f'--save-inputs=@{kept}', f'--output=@{expected}', module], RUN_SECONDS)
        if code: return None, (code, f'{self.levels[-1]}: {said}')
        if self.peer:
            answer = self.peer.ask({'module': module, 'inputs': kept, 'write': expected, 'exact': []})
            if answer['status'] == 'written': return 'XLA', None
        # Its own results at one level are what remains: the other levels are to give the same.
        return f'cpu {self.levels[-1]}', None

    def cost(self, module):
        run = subprocess.run([self.opt_tool, '--cost', module], capture_output=True, text=True, check=False)
        found = re.search(r'^\s*(\d+)\s.*total of', run.stdout.strip().split('\n')[-1])
        return int(found[1]) if found else 0

    def compiled(self, module):
        for machine in self.machines:
            for level in self.levels:
                code, said = self.call([level, f'--mcpu={machine}', '--compile-only', module], COMPILE_SECONDS)
                if code: return f'compile {level} --mcpu={machine}: exit {code}: {said}'
        return None

    def verdict(self, module, dtype):
        """{"ok", "reference", "why", "seconds"}"""
        began = time.time()
        with open(module[:-len('.hlo')] + '.json', encoding='utf-8') as f: generators = json.load(f)['inputs']
        inputs = [f'--input={i}:{words}' for i, words in enumerate(generators) if words != 'random']
        kept, expected = (os.path.join(self.folder, name) for name in ('inputs.npz', 'expected.npz'))
        judged = lambda ok, who, why='': {'ok': ok, 'reference': who, 'why': why, 'seconds': round(time.time() - began, 1)}
        wrong = self.compiled(module)
        if wrong: return judged(False, '-', wrong)
        who, failed = self.reference(module, inputs, kept, expected)
        if failed and failed[0] == TOO_LARGE: return judged(True, 'compiled only', failed[1])
        if failed: return judged(False, '-', f'exit {failed[0]}: {failed[1]}')
        bound = BOUNDS[dtype]
        for level in self.levels:
            if who == f'cpu {level}': continue
            code, said = self.call([level, f'--inputs=@{kept}', f'--expected=@{expected}', f'--abs-error={bound}', f'--rel-error={bound}', module], RUN_SECONDS)
            if code: return judged(False, who, f'run {level}: exit {code}: {said}')
        return judged(True, who)
