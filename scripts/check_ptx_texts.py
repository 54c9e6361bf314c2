#!/usr/bin/env python3
"""Holds the tests of backends/gpu/ptx against ptxas: what they take it takes, what they refuse it refuses.

Exits with 77 where there is no ptxas.

  check_ptx_texts.py [--ptxas FILE] [--jobs N]
"""
import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TEXTS = os.path.join(ROOT, 'backends/gpu/ptx')
FRAME = '''.version {version}
.target {sm}
.address_size 64
.global .align 16 .b8 gl[1024];
.const .align 16 .b8 cn[1024];
.shared .align 16 .b8 sm[1024];
.visible .entry k(.param .u64 par)
{{
  .reg .pred %p<10>; .reg .b16 %rs<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<10>; .reg .f64 %fd<10>;
  .reg .u32 %u<10>; .reg .s32 %s<10>; .reg .f16 %h<10>; .reg .f16x2 %hh<10>;
  .local .align 16 .b8 lo[1024];
L:
{statement}
}}
'''


def instructions():
    target = None
    with open(os.path.join(TEXTS, 'instructions_test.ptx'), encoding='utf-8') as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip('\n')
            if line.startswith('// TARGET '):
                target = line.split()[2:]
            elif target and not line.startswith('//'):
                statement, _, error = line.partition('  // ERROR: ')
                text = FRAME.format(sm=target[0], version=target[1], statement=statement)
                yield f'instructions_test.ptx:{number}', text, target[0], not error


def modules():
    with open(os.path.join(TEXTS, 'modules_test.ptx'), encoding='utf-8') as f:
        number = 1
        for part in f.read().split('// -----\n'):
            sm = 'sm_90' if 'sm_90' in part else 'sm_80'
            yield f'modules_test.ptx:{number}', part, sm, '// ERROR: ' not in part
            number += part.count('\n') + 1


def takes(ptxas, text, sm):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'k.ptx')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        run = subprocess.run([ptxas, '-arch', sm, path, '-o', os.path.join(folder, 'k.cubin')], capture_output=True, text=True)
        return run.returncode == 0, run.stdout + run.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--ptxas', default=shutil.which('ptxas') or '/usr/local/cuda/bin/ptxas')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    options = parser.parse_args()
    if not os.path.exists(options.ptxas):
        print('no ptxas: skipped')
        return 77
    cases = [*instructions(), *modules()]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda case: takes(options.ptxas, case[1], case[2]), cases))
    wrong = 0
    for (where, text, _, wanted), (found, log) in zip(cases, results):
        if wanted != found:
            wrong += 1
            print(f'{where}: ptxas {"takes" if found else "refuses"} it\n{log.strip() if not found else ""}')
    print(f'{len(cases)} texts, {wrong} where ptxas differs')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
