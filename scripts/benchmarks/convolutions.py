"""Every form of convolution (convolution_forms.py) in every type, beside the nearest plain form of that type.

A row is right if it takes at most three times as long as what it is held against, the sum of
- the time of the nearest plain form: NHWC, 3x3 (1x1 for forms of one tap), 64 features on both sides (32, 16, 8 where
  that would leave fewer than 64 positions), with about as many products; its time is scaled to the products of the row,
  counting only taps that meet an element, no padding and no gaps. With --xla-python the better of our time and XLA's;
- the time of moving the row's bytes, operands and result: a depthwise convolution multiplies each element a few times,
  the plain form hundreds of times. It is that of a kernel that reads and writes as many bytes (negate), which includes
  what entering a module takes, so rows of a few microseconds are not hidden but have that microsecond.

All are least times of two turns of hlo-run --benchmark on all threads. Exit status 1 if any row takes longer.
"""
import argparse, json, math, os, re, subprocess, sys, tempfile
import convolution_forms

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MOST = 3
TURN = .01  # seconds that a row is repeated in a turn

def arguments():
    parser = argparse.ArgumentParser(prog='scripts/bench_convolutions', description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--forms', metavar='RE', default='', help='forms whose names match')
    parser.add_argument('--types', metavar='RE', default='.*', help='types that match, as a whole')
    parser.add_argument('--xla-python', metavar='PYTHON', help='with jaxlib: measures plain forms with XLA, too')
    parser.add_argument('--threads', type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument('--extra', default='', help='more options of hlo-run')
    parser.add_argument('--slow', action='store_true', help='print only the rows that take too long')
    parser.add_argument('--json', metavar='FILE')
    parser.add_argument('--hlo-run', default=os.environ.get('HLO_RUN', os.path.join(ROOT, 'build/release/bin/hlo-run')))
    return parser.parse_args()

class Timer:
    def __init__(self, options, folder):
        self.options, self.folder, self.known = options, folder, {}

    def once(self, path, repeats, *more):
        command = [self.options.hlo_run, '--platform=cpu', f'--threads={self.options.threads}', '--print=none', '-q', '--benchmark=json', f'--repeats={repeats}', '--warmup=1', *more, *self.options.extra.split(), path]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)['modules'][0]['execute_ns']['min'] / 1e9

    def file(self, text):
        path = os.path.join(self.folder, 'module.hlo')
        with open(path, 'w', encoding='utf-8') as file: file.write(text)
        return path

    def seconds(self, text):
        """Of one run of a module, the least."""
        if text not in self.known:
            path = self.file(text)
            first = self.once(path, 3)
            repeats = max(3, min(1000, int(TURN / first)))
            self.known[text] = min([first] + [self.once(path, repeats) for _ in range(2)])
        return self.known[text]

    def plain(self, text):
        """The same, or XLA's time if that is less."""
        ours = self.seconds(text)
        if not self.options.xla_python: return ours
        if ('XLA', text) not in self.known:
            path, inputs = self.file(text), os.path.join(self.folder, 'inputs.npz')
            self.once(path, 1, f'--save-inputs=@{inputs}')
            run = subprocess.run([self.options.xla_python, os.path.join(HERE, 'xla_worker.py'), path, inputs, '.2'], check=False, capture_output=True, text=True)
            self.known['XLA', text] = json.loads(run.stdout)['run'] if run.returncode == 0 else math.inf  # types it has not
        return min(ours, self.known['XLA', text])

    def moving(self, size):
        """Of reading and writing `size` bytes altogether."""
        elements = [1 << max(10, math.ceil(math.log2(size / 8)) - i) for i in (1, 0)]
        low, high = (self.seconds(f'HloModule move\n\nENTRY main {{\n  x = f32[{n}] parameter(0)\n  ROOT y = f32[{n}] negate(x)\n}}\n') for n in elements)
        return max(low, low + (high - low) * (size / 8 - elements[0]) / max(elements[1] - elements[0], 1))

def element_bytes(type):
    return 1 if type.startswith('f8') else int(re.search(r'\d+', type).group()) // 8

def measure(timer, form, type):
    plain = convolution_forms.plain_form(form)
    row = {'form': form.name, 'type': type, 'products': form.products, 'run': timer.seconds(form.text(type)),
           'plain': timer.plain(plain.text(type)) * form.products / plain.products,
           'moving': timer.moving(form.elements() * element_bytes(type))}
    row['ratio'] = row['run'] / (row['plain'] + row['moving'])
    return row

def main():
    options = arguments()
    rows = []
    print(f"{'form':42} {'type':9} {'ours':>9} {'plain':>9} {'moving':>9} us {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        timer = Timer(options, folder)
        for form in convolution_forms.forms():
            if not re.search(options.forms, form.name): continue
            for type in convolution_forms.TYPES:
                if not re.fullmatch(options.types, type): continue
                row = measure(timer, form, type)
                rows.append(row)
                late = row['ratio'] > MOST
                if late or not options.slow:
                    print(f"{form.name:42} {type:9} {row['run'] * 1e6:9.1f} {row['plain'] * 1e6:9.1f} {row['moving'] * 1e6:9.1f}    {row['ratio']:7.2f}{' !' * late}", flush=True)
    late = sum(row['ratio'] > MOST for row in rows)
    mean = math.exp(sum(math.log(row['ratio']) for row in rows) / max(len(rows), 1))
    print(f'{len(rows)} rows, {late} beyond {MOST} x the nearest plain form, geometric mean {mean:.2f}')
    if options.json:
        with open(options.json, 'w', encoding='utf-8') as file: json.dump({'threads': options.threads, 'rows': rows}, file, indent=1)
    sys.exit(late > 0)

if __name__ == '__main__': main()
