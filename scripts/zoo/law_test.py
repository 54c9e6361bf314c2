#!/usr/bin/env python3
"""The law by which results agree: what rounding does passes, what is wrong does not. Takes --bin DIR of the programs."""
import json
import os
import sys
import tempfile
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bounds
import judge

BINARIES = 'build/release/bin'

# Two layers; a variance over two numbers that nearly agree multiplies what rounding does.
LAYERS = '''HloModule layers

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

ENTRY %main (x: f32[8,49], w: f32[49,75]) -> (f32[8,75], f32[8]) {
  %x = f32[8,49]{1,0} parameter(0)
  %w = f32[49,75]{1,0} parameter(1)
  %d = f32[8,75]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %t = f32[8,75]{1,0} tanh(%d)
  %zero = f32[] constant(0)
  %s = f32[8]{0} reduce(%t, %zero), dimensions={1}, to_apply=%add
  %c = f32[] constant(1.5)
  %cs = f32[8]{0} broadcast(%c), dimensions={}
  %p = f32[8]{0} multiply(%s, %cs)
  ROOT %r = (f32[8,75]{1,0}, f32[8]{0}) tuple(%t, %p)
}
'''
CANCELS = '''HloModule cancels

ENTRY %main (x: f32[64]) -> f32[64] {
  %x = f32[64]{0} parameter(0)
  %h = f32[] constant(4096.1)
  %hs = f32[64]{0} broadcast(%h), dimensions={}
  %far = f32[64]{0} add(%x, %hs)
  ROOT %near = f32[64]{0} subtract(%far, %hs)
}
'''

# A compiler that is wrong: {1} edits what it reads.
COMPILER = '''#!/bin/bash
[[ " $* " = *" --platform=interpreter "* ]] && exec {0}/hlo-run "$@"
sed '{1}' "${{@: -1}}" > edited.hlo
exec {0}/hlo-run "${{@:1:$#-1}}" edited.hlo
'''

def noisy(generator, x, unit): return (x * (1 + unit * generator.uniform(-2, 2, x.shape))).astype(x.dtype)

class Law(unittest.TestCase):
    def setUp(self):
        self.generator = np.random.default_rng(7)
        self.expected = self.generator.normal(size=(31, 75)).astype(np.float32)
        self.actual = noisy(self.generator, self.expected, 1e-4)
        self.draws = [noisy(self.generator, self.expected, 2e-4) for _ in range(3)]

    def find(self, actual): return bounds.find(actual, self.expected, self.expected, self.draws)

    def test_what_noise_does_passes(self):
        found = self.find(self.actual)
        self.assertTrue(found.ok)
        self.assertLess(found.part, .5)
        self.assertGreater(found.amplified, 1000)
        self.assertFalse(found.silent)

    def test_one_wrong_element_fails(self):
        self.actual[3, 7] += .1
        self.assertFalse(self.find(self.actual).ok)

    def test_a_wrong_factor_fails(self): self.assertFalse(self.find(self.actual * np.float32(1.01)).ok)

    def test_a_nan_fails(self):
        self.actual[3, 7] = np.nan
        self.assertFalse(self.find(self.actual).ok)

    def test_an_infinity_of_both_passes(self):
        self.expected[0, 0] = self.actual[0, 0] = np.inf
        for draw in self.draws: draw[0, 0] = np.inf
        self.assertTrue(self.find(self.actual).ok)
        self.actual[0, 0] = -np.inf
        self.assertFalse(self.find(self.actual).ok)

    def test_integers_are_the_same_unless_noise_changes_them(self):
        tokens = np.arange(20, dtype=np.int32)
        other = tokens + (tokens == 3)
        self.assertFalse(bounds.find(other, tokens, tokens, [tokens]).ok)
        self.assertTrue(bounds.find(other, tokens, tokens, [tokens + (tokens == 5)]).ok)

    def test_sizes_have_to_agree(self): self.assertFalse(self.find(self.actual[1:]).ok)

    def test_noise_that_drowns_the_array_tells_nothing(self):
        self.assertTrue(bounds.find(self.expected, self.expected, self.expected, [self.expected * 3]).silent)

    def test_bits_of_bf16_are_numbers(self):
        one = np.array([0x3F80, 0xC000], np.uint16).view('V2')
        numbers, unit = bounds.plain(one)
        self.assertEqual(numbers.tolist(), [1, -2])
        self.assertEqual(unit, 2 ** -7)

class Judged(unittest.TestCase):
    def judged(self, text, edit=''):
        """The verdict on a module where the compiler, unlike the interpreter, sees it edited by sed."""
        with tempfile.TemporaryDirectory() as folder:
            module = os.path.join(folder, 'm.hlo')
            with open(module, 'w', encoding='utf-8') as f: f.write(text)
            inputs = ['normal(0,1)', 'normal(0,0.14)'][:text.split('ENTRY')[1].count(' parameter(')]
            with open(os.path.join(folder, 'm.json'), 'w', encoding='utf-8') as f: json.dump({'inputs': inputs}, f)
            os.symlink(os.path.join(BINARIES, 'hlo-opt'), os.path.join(folder, 'hlo-opt'))
            with open(os.path.join(folder, 'hlo-run'), 'w', encoding='utf-8') as f: f.write(COMPILER.format(BINARIES, edit))
            os.chmod(os.path.join(folder, 'hlo-run'), 0o755)
            return judge.Judge(folder, folder).verdict(module)

    def test_a_right_compiler_passes(self):
        verdict = self.judged(LAYERS)
        self.assertEqual((verdict['ok'], verdict['reference'], verdict['why']), (True, 'interpreter', ''))

    def test_a_constant_that_is_wrong_by_a_thousandth_fails(self):
        verdict = self.judged(LAYERS, 's/constant(1.5)/constant(1.5015)/')
        self.assertFalse(verdict['ok'])
        self.assertIn('result 1: root mean square', verdict['why'])

    def test_what_cancels_may_differ_by_what_it_lost(self):
        verdict = self.judged(CANCELS, 's/4096.1/4096.1005/')  # a neighbour
        self.assertEqual((verdict['ok'], verdict['why']), (True, ''))
        self.assertGreater(verdict['amplified'], 100)

if __name__ == '__main__':
    if '--bin' in sys.argv:
        at = sys.argv.index('--bin')
        BINARIES = os.path.abspath(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    unittest.main()
