"""What becomes of a module: run at every level and compared, compiled at every level for every machine.

The law by which results agree. Two right programs differ by what rounding does, and the module itself says how much that
is: some multiply the last place by thousands (a variance over a few elements, a difference of near numbers), others choose
(a maximum, a token) and jump. So noise is measured. The module is written anew with every rounding disturbed by one unit in
the last place of its type, sums of n terms by sqrt(n) units (hlo-opt --disturb-rounding), and run with several draws; quiet is the same
program without noise. With d = actual - reference and s = noisy - quiet, of each array

    d <= FACTOR (max over draws of s + one unit of the array)

must hold for the root mean square and for the largest element; elements that are integers, truth values or not finite
may differ in number only FACTOR times as often as under noise. What two programs round differently is at most a unit for
each instruction, the noise nearly twice that: right results use less than a twentieth of the bound (`part` in a verdict
says how much), and up to three quarters where rounding decides everything, as in the first layers' gradients behind many
normalisations of a small batch in BF16. A wrong element stands out where it exceeds what noise does to its array. Noise is compared with the
program that it disturbs, never with the reference: a compiler that is wrong in both is found. What fails is measured with
more draws before it counts, for choices jump seldom. An array that noise moves by half of itself tells nothing; verdicts
count these (`silent`). Results within a few units of the reference need no measuring.
"""
import json
import os
import re
import subprocess
import time

import numpy as np

import bounds

LEVELS = ('-O0', '-O1', '-O2', '-O3')
MACHINES = ('haswell', 'x86-64', 'skylake-avx512')  # besides the one at hand
RUNS = (*((level, '--tier=compile') for level in LEVELS), ('-O2',))
QUIET = ('-O2',)
DRAWS, MORE_DRAWS = 3, 9
MOST_BYTES = '8G'
NOISE_BYTES = '16G'  # noise keeps values alive that the module forgets
INTERPRETED_FLOPS = 5e10  # up to here the interpreter takes seconds
COMPILE_SECONDS, RUN_SECONDS = 300, 600
TOO_LARGE = 8  # exit code of hlo-run: a limit

class Wrong(Exception):
    """Why a module fails."""

class Arrays:
    """Those of a file in their order, each read when it is asked for."""

    def __init__(self, path): self.file = np.load(path)
    def __len__(self): return len(self.file.files)
    def __getitem__(self, number): return self.file[self.file.files[number]]  # an IndexError ends iteration

class Judge:
    """`peer`: XLA where interpreting takes too long; `runs`: the options of each."""

    def __init__(self, folder, binaries, peer=None, runs=RUNS, flops=INTERPRETED_FLOPS, options=()):
        self.folder, self.run_tool, self.opt_tool = folder, os.path.join(binaries, 'hlo-run'), os.path.join(binaries, 'hlo-opt')
        self.peer, self.runs, self.flops, self.options = peer, runs, flops, list(options)
        # Code with noise is made once for all draws; mistakes of the compiler are errors.
        self.environment = {**os.environ, 'XDG_CACHE_HOME': os.path.join(folder, 'cache'), 'HLO_CHECKED': '1'}

    def place(self, name): return os.path.join(self.folder, name)

    def call(self, arguments, seconds, limit=MOST_BYTES):
        """Exit code and first lines of what was said."""
        command = [self.run_tool, '--print=none', '-q', f'--memory-limit={limit}', *self.options, *arguments]
        try: run = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False, cwd=self.folder, env=self.environment)
        except subprocess.TimeoutExpired: return 124, f'longer than {seconds} s'
        said = [line for line in (run.stdout + run.stderr).strip().split('\n') if line]
        return run.returncode, ' | '.join(said[:4])[:300]

    def must(self, arguments, what, limit=MOST_BYTES):
        code, said = self.call(arguments, RUN_SECONDS, limit)
        if code: raise Wrong(f'{what}: exit {code}: {said}')

    def cost(self, module):
        run = subprocess.run([self.opt_tool, '--cost', module], capture_output=True, text=True, check=False)
        found = re.search(r'^\s*(\d+)\s.*total of', run.stdout.strip().split('\n')[-1])
        return int(found[1]) if found else 0

    def compiled(self, module, level, machine):
        """One compilation: {"ok", "why", "seconds"}, and "absent" where this machine runs no such code."""
        began = time.time()
        code, said = self.call([level, f'--mcpu={machine}', '--tier=compile', '--no-cache', '--compile-only', module], COMPILE_SECONDS)
        if code == 7 and '[unavailable-cpu]' in said: return {'ok': True, 'absent': True, 'why': '', 'seconds': 0}
        return {'ok': code == 0, 'why': f'exit {code}: {said}' if code else '', 'seconds': round(time.time() - began, 2)}

    def reference(self, module, inputs):
        """Who gave the results in expected.npz; saves the arguments, too. None: not to be run in this memory."""
        kept, expected = f'--save-inputs=@{self.place("inputs.npz")}', f'--output=@{self.place("expected.npz")}'
        if self.cost(module) <= self.flops or self.peer is None:
            code, said = self.call(['--platform=interpreter', *inputs, kept, expected, module], RUN_SECONDS)
            if code == 0: return 'interpreter'
            if code not in (124, TOO_LARGE): raise Wrong(f'interpreter: exit {code}: {said}')
        code, said = self.call(['-O0', *inputs, kept, expected, module], RUN_SECONDS)
        if code == TOO_LARGE: return None
        if code: raise Wrong(f'-O0: exit {code}: {said}')
        if self.peer:
            answer = self.peer.ask({'module': module, 'inputs': self.place('inputs.npz'), 'write': self.place('expected.npz'), 'exact': []})
            if answer['status'] == 'written': return 'XLA'
        return 'cpu -O0'  # which is what remains: the other levels are to give the same

    def verdict(self, module):
        """{"ok", "reference", "why", "seconds", "part", "amplified", "silent", "arrays"}"""
        began, seen = time.time(), {'part': 0., 'amplified': 0., 'silent': 0, 'arrays': 0}
        with open(module[:-len('.hlo')] + '.json', encoding='utf-8') as f: generators = json.load(f)['inputs']
        inputs = [f'--input={i}:{words}' for i, words in enumerate(generators) if words != 'random']
        who, why = '-', ''
        try:
            who = self.reference(module, inputs)
            if who: self.compare(module, seen)
        except Wrong as wrong: why = str(wrong)
        return {'ok': not why, 'reference': who or 'compiled only', 'why': why, 'seconds': round(time.time() - began, 1), **seen}

    def compare(self, module, seen):
        """Runs the module in every way; raises Wrong at the first that differs."""
        unclear = []
        for options in self.runs:
            name = f'actual{len(unclear)}.npz'
            self.must([*options, f'--inputs=@{self.place("inputs.npz")}', f'--output=@{self.place(name)}', module], f'run {" ".join(options)}')
            plain = [bounds.is_plain(a, e) for a, e in zip(Arrays(self.place(name)), Arrays(self.place('expected.npz')), strict=True)]
            seen['arrays'] = len(plain)
            if not all(plain): unclear.append((options, name, plain))
        if unclear: self.measure(module, unclear, seen)

    def measure(self, module, unclear, seen):
        made = subprocess.run([self.opt_tool, '--disturb-rounding', module, '-o', self.place('noise.hlo')], capture_output=True, text=True, check=False)
        if made.returncode: raise Wrong(f'noise: exit {made.returncode}: {made.stderr[:300]}')
        inputs = f'--inputs=@{self.place("inputs.npz")}'
        self.must([*QUIET, inputs, f'--output=@{self.place("quiet.npz")}', module], 'run')
        self.draw(inputs, range(DRAWS))
        wrong = self.found(unclear, DRAWS, seen)
        if not wrong: return
        self.draw(inputs, range(DRAWS, DRAWS + MORE_DRAWS))
        wrong = self.found(unclear, DRAWS + MORE_DRAWS, seen)
        if wrong: raise Wrong(wrong)

    def draw(self, inputs, seeds):
        for seed in seeds:
            self.must([*QUIET, inputs, f'--rng-seed={seed + 1}', f'--output=@{self.place(f"noisy{seed}.npz")}', self.place('noise.hlo')], 'run with noise', NOISE_BYTES)

    def found(self, unclear, draws, seen):
        """What is wrong with results that differ by more than a few units; notes what part of the bounds they use."""
        actual = [Arrays(self.place(name)) for _, name, _ in unclear]
        expected, quiet, *noisy = (Arrays(self.place(name)) for name in ('expected.npz', 'quiet.npz', *(f'noisy{i}.npz' for i in range(draws))))
        silent = 0
        for number in range(len(expected)):
            asked = [run for run, (_, _, plain) in enumerate(unclear) if not plain[number]]
            if not asked: continue
            bound = bounds.Bound(expected[number], quiet[number], [arrays[number] for arrays in noisy])
            found = [bound.find(actual[run][number]) for run in asked]
            for run, one in zip(asked, found):
                if not one.ok: return f'run {" ".join(unclear[run][0])}: result {number}: {one.why}'
                seen.update(part=round(max(seen['part'], one.part), 3), amplified=float(f'{max(seen["amplified"], one.amplified):.3g}'))
            silent += any(one.silent for one in found)
        seen['silent'] = silent
        return None
