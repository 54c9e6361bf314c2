"""Every form of convolution (convolution_forms.py) in every type, beside the nearest plain form.

A row is right if it takes at most three times as long as what it is held against: the least time of oneDNN for the nearest
plain form, on at most as many threads. That has the images, features, groups, taps, strides and dilations of the row in whichever
layouts are fastest for the library: batch, space, features and HWIO, or any of its own, without counting what bringing
arrays into them takes. A dilated input is its deconvolution; a window of more than half the image is its gradient by
weights, batch groups are groups; reversal, padding that takes elements away and orders of dimensions count as if they were
not there; one dimension may be two. Bytes have signed weights there, and results of s32 or s8, whichever is faster.
Reference loops of the library do not count.

Rows of types and forms that it has not, and with --per-product or without its header (libdnnl-dev) all rows, are held
against the sum of
- the time of our own plain form of that type: NHWC, 3x3 (1x1 for forms of one tap), 64 features on both sides (32, 16, 8
  where that would leave fewer than 64 positions), with about as many products; its time is scaled to the products of the
  row, counting only taps that meet an element, no padding and no gaps. With --xla-python the better of our time and XLA's;
- the time of moving the row's bytes, operands and result: a depthwise convolution multiplies each element a few times,
  the plain form hundreds of times. It is that of a kernel that reads and writes as many bytes (negate), which includes
  what entering a module takes, so rows of a few microseconds are not hidden but have that microsecond.

All are least times, ours of two turns of hlo-run --benchmark on all threads. Rows that take longer are measured up to
three times more, both sides. Exit status 1 if any row takes longer.
"""
import argparse, json, math, os, re, subprocess, sys, tempfile
import convolution_forms

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MOST = 3
TURN = .01  # seconds that a row is repeated in a turn
AGAIN = 3   # measurements of both sides more for a row that takes too long

def arguments():
    parser = argparse.ArgumentParser(prog='scripts/bench_convolutions', description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--forms', metavar='RE', default='', help='forms whose names match')
    parser.add_argument('--types', metavar='RE', default='.*', help='types that match, as a whole')
    parser.add_argument('--per-product', action='store_true', help='hold all rows against our own plain form, per product')
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

    def again(self, texts):
        """Times of modules after a while, the least of then and now."""
        for text in texts:
            before = self.known.pop(text, math.inf)
            self.known[text] = min(before, self.seconds(text))

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

def library_times(options, folder, rows):
    """By form and type, the least seconds of oneDNN and how it got there, for `rows` that it has."""
    program, source = os.path.join(folder, 'library_convolutions'), os.path.join(HERE, 'library_convolutions.cc')
    built = subprocess.run([os.environ.get('CXX', 'clang++-19'), '-std=c++20', '-O2', '-o', program, source, '-ldnnl'], check=False, capture_output=True, text=True)
    if built.returncode:
        if 'dnnl.hpp' not in built.stderr: sys.exit(f'{source}: {built.stderr}')
        print('no dnnl.hpp (libdnnl-dev): rows are held against our own plain forms')
        return {}
    lines = {(form.name, type): convolution_forms.library_form(form, type) for form, type in rows}
    asked = sorted({line for line in lines.values() if line})
    times = {}
    for threads in {1, options.threads}:  # all of them may be slower, for little work and on busy machines
        run = subprocess.run([program], input=''.join(line + '\n' for line in asked), env={**os.environ, 'OMP_NUM_THREADS': str(threads)}, check=True, stdout=subprocess.PIPE, text=True)
        for line, answer in zip(asked, run.stdout.splitlines()):
            if answer != 'none': times[line] = min(times.get(line, (math.inf,)), (float(answer.split()[0]), answer.split(' ', 1)[1]))
    return {row: times[line] for row, line in lines.items() if line in times}

def measure(timer, form, type, library):
    row = {'form': form.name, 'type': type, 'products': form.products, 'run': timer.seconds(form.text(type))}
    if library:
        row['library'], row['how'] = library
        bound = row['library']
    else:
        plain = convolution_forms.plain_form(form)
        row['plain'] = timer.plain(plain.text(type)) * form.products / plain.products
        row['moving'] = timer.moving(form.elements() * element_bytes(type))
        bound = row['plain'] + row['moving']
    row['ratio'] = row['run'] / bound
    return row

def line(row):
    """Of the table; what a row was not held against is left out."""
    times = ''.join(f"{row[key] * 1e6:9.1f} " if key in row else ' ' * 10 for key in ('run', 'library', 'plain', 'moving'))
    return f"{row['form']:42} {row['type']:9} {times}   {row['ratio']:7.2f} {'!' if row['ratio'] > MOST else ' '} {row.get('how', '')}".rstrip()

def main():
    options = arguments()
    chosen = [(form, type) for form in convolution_forms.forms() if re.search(options.forms, form.name)
              for type in convolution_forms.TYPES if re.fullmatch(options.types, type)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        timer = Timer(options, folder)
        library = {} if options.per_product else library_times(options, folder, chosen)
        print(f"{'form':42} {'type':9} {'ours':>9} {'library':>9} {'plain':>9} {'moving':>9} us {'ratio':>7}")
        for form, type in chosen:
            rows.append(measure(timer, form, type, library.get((form.name, type))))
            for _ in range(AGAIN):  # the machine may have been slow in those seconds, for either side
                if rows[-1]['ratio'] <= MOST: break
                timer.again([form.text(type)] + ([convolution_forms.plain_form(form).text(type)] if 'plain' in rows[-1] else []))
                for key, time in library_times(options, folder, [(form, type)]).items() if library else ():
                    library[key] = min(library.get(key, time), time)
                rows[-1] = measure(timer, form, type, library.get((form.name, type)))
            if rows[-1]['ratio'] > MOST or not options.slow: print(line(rows[-1]), flush=True)
    late = [row for row in rows if row['ratio'] > MOST]
    mean = math.exp(sum(math.log(row['ratio']) for row in rows) / max(len(rows), 1))
    print(f"{len(rows)} rows, {sum('library' in row for row in rows)} beside oneDNN, {len(late)} beyond {MOST} x the nearest plain form, geometric mean {mean:.2f}")
    if options.json:
        with open(options.json, 'w', encoding='utf-8') as file: json.dump({'threads': options.threads, 'rows': rows}, file, indent=1)
    sys.exit(bool(late))

if __name__ == '__main__': main()
