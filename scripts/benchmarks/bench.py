"""Measures the cpu platform beside XLA and the machine: see scripts/bench --help."""
import argparse, glob, json, math, os, re, signal, subprocess, sys, tempfile, time
import limits, workloads, xla_worker

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

def arguments():
    parser = argparse.ArgumentParser(prog='scripts/bench', description='Run times of workloads and modules, ours and '
                                     "XLA's interleaved on the same inputs and threads, and what the machine allows.")
    parser.add_argument('files', nargs='*', help='modules instead of the workloads and the corpus ($HLO_CORPUS)')
    parser.add_argument('--xla-python', metavar='PYTHON', help='with jaxlib; none: without XLA; default: a virtual environment in build/')
    parser.add_argument('--functions', nargs='?', const='', metavar='RE', help='instead: ordinary functions written with JAX (functions.py), compared as well; those whose names match')
    parser.add_argument('--only', metavar='RE', default='', help='rows whose number and name match')
    parser.add_argument('--threads', type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument('--rounds', type=int, default=2, help='turns that each side takes')
    parser.add_argument('--seconds', type=float, default=1, help='of measurement per turn')
    parser.add_argument('--timeout', type=float, default=120, help='seconds for one process')
    parser.add_argument('--late-rounds', type=int, default=2, help='after all rows, as many measurements of both sides of those that are late or nearly')
    parser.add_argument('--row-limit', type=float, default=300, help='seconds after which a row takes no further turn')
    parser.add_argument('--platform', default='cpu')
    parser.add_argument('--compare', action='store_true', help="hold our results against XLA's, within hlo-run's bounds")
    parser.add_argument('--extra', default='', help='more options of hlo-run')
    parser.add_argument('--json', metavar='FILE'); parser.add_argument('--markdown', metavar='FILE')
    parser.add_argument('--hlo-opt', help='fills elided constants; default: beside hlo-run')
    parser.add_argument('--hlo-run', default=os.environ.get('HLO_RUN', os.path.join(ROOT, 'build/release/bin/hlo-run')))
    return parser.parse_args()

def keep_faster(levels, others):
    for level, other in zip(levels, others): level['rate'] = max(level['rate'], other['rate'])

class Bench:
    def __init__(self, options):
        self.options = options
        self.cpus = sorted(os.sched_getaffinity(0))[:options.threads]
        self.pinned = lambda: os.sched_setaffinity(0, self.cpus)
        self.peaks = self.measure_machine()
        self.startup = self.measure_startup()
        self.call = self.measure_call()

    def spawn(self, command):
        """Output, seconds and peak memory of a process; raises RuntimeError with the last line of its errors."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            start = time.perf_counter()
            process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, preexec_fn=self.pinned)
            signal.signal(signal.SIGALRM, lambda *_: process.kill()); signal.setitimer(signal.ITIMER_REAL, self.options.timeout)
            try: _, status, usage = os.wait4(process.pid, 0)
            finally: signal.setitimer(signal.ITIMER_REAL, 0)
            seconds = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0); err.seek(0)
            if process.returncode:
                lines = err.read().decode(errors='replace').strip().splitlines() or ['']
                errors = [line for line in lines if 'rror' in line]
                raise RuntimeError(f'exit {process.returncode}: {(errors or lines)[-1][:200]}' if process.returncode > 0 else f'no end within {self.options.timeout:g} s' if process.returncode == -9 else f'signal {-process.returncode}')
            return out.read().decode(), seconds, usage.ru_maxrss * 1024

    def measure_machine(self, best=None):
        """Peaks by the probe: as one thread, or all of them together, reaches them, now or when `best` was found."""
        if not hasattr(self, 'probe'):
            self.probe = os.path.join(tempfile.mkdtemp(), 'probe')
            subprocess.run([os.environ.get('CXX', 'clang++-19'), '-std=c++20', '-O2', '-march=native', '-w', '-pthread', '-o', self.probe, os.path.join(HERE, 'probe.cc')], check=True)
        for threads in {1, self.options.threads}:
            found = json.loads(self.spawn([self.probe, str(threads)])[0])
            if best is None: best = found; continue
            for type, rate in found['flops'].items(): best['flops'][type] = max(rate, best['flops'][type])
            keep_faster(best['bandwidth'], found['bandwidth'])
            for op, seconds in found['latency'].items(): best['latency'][op] = min(seconds, best['latency'][op])
            for name, rate in found['rates'].items():
                if not isinstance(rate, list): best['rates'][name] = max(rate, best['rates'][name]); continue
                for old, new in zip(best['rates'][name], rate): old.update({key: max(old[key], new[key]) for key in old})
        return best

    def measure_bandwidth(self):
        """Of all threads together, at this time."""
        return json.loads(self.spawn([self.probe, str(self.options.threads), 'bandwidth'])[0])

    def measure_startup(self):
        """Seconds that a process takes beside parsing, compiling and running, above an empty process: those three are counted with
        each row."""
        with tempfile.NamedTemporaryFile('w', suffix='.hlo') as file:
            file.write('HloModule t\nENTRY e {\n  x0 = f32[64] parameter(0)\n' + ''.join(f'  x{i + 1} = f32[64] {op}(x{i})\n' for i, op in enumerate(['tanh', 'negate', 'abs'] * 3)) + '  ROOT r = f32[64] negate(x9)\n}\n'); file.flush()
            empty = min(self.spawn(['/bin/true'])[1] for _ in range(20))
            def beside():
                text, wall, _ = self.spawn(self.ours(file.name, '--benchmark=json', '--repeats=1', '--warmup=0'))
                times = json.loads(text)['modules'][0]
                return wall - (times['parse_ns'] + times['compile_ns'] + times['execute_ns']['min']) / 1e9
            return max(0, min(beside() for _ in range(20)) - empty)

    def measure_call(self):
        """Seconds of a module that does nothing to speak of."""
        with tempfile.NamedTemporaryFile('w', suffix='.hlo') as file:
            file.write('HloModule t\nENTRY e {\n  x = f32[] parameter(0)\n  ROOT r = f32[] negate(x)\n}\n'); file.flush()
            text = self.spawn(self.ours(file.name, '--benchmark=json', '--repeats=1000', '--warmup=10'))[0]
            return json.loads(text)['modules'][0]['execute_ns']['min'] / 1e9

    def ours(self, path, *more):
        return [self.options.hlo_run, f'--platform={self.options.platform}', f'--threads={self.options.threads}', '--print=none', '-q', *self.options.extra.split(), *more, path]

    def same_for_both(self, path, folder):
        """A module of others: without elided constants, which each side would fill in its own way, and without aliases, by which
        only one side would save copies."""
        with open(path) as file: text = file.read()
        if '{...}' in text:
            filled = os.path.join(folder, 'filled.hlo')
            tool = self.options.hlo_opt or os.path.join(os.path.dirname(self.options.hlo_run), 'hlo-opt')
            if not os.path.exists(tool): raise RuntimeError(f'elided constants, and no {tool} to fill them')
            self.spawn([tool, '-q', '--elided-constants=random', '-o', filled, path])
            with open(filled) as file: text = file.read()
        copy = os.path.join(folder, os.path.basename(path))
        with open(copy, 'w') as file: file.write(xla_worker.without_aliases(text))
        return copy

    def row(self, name, path, workload, row=None):
        """Of the table; best of what `row` has already and another measurement."""
        row = row or {'name': name, 'number': workload.number if workload else None}
        with tempfile.TemporaryDirectory() as folder:
            inputs, beside = os.path.join(folder, 'inputs.npz'), os.path.splitext(path)[0] + '.npz'
            if os.path.exists(beside): inputs = beside
            try:
                if workload is None: path = self.same_for_both(path, folder)
            except RuntimeError as error:
                row['ours_error'] = str(error); return row
            busy = subprocess.Popen([sys.executable, '-c', 'while True: pass'], preexec_fn=lambda: os.sched_setaffinity(0, self.cpus[-1:])) if workload and workload.contended else None
            try:
                self.measure(row, path, inputs)
            finally:
                if busy: busy.kill(); busy.wait()
            self.hold_against(row, *limits.limit(workload, self.peaks) if workload else (self.limit_of_module(row, path, inputs), 'as profiled'))
        if workload and workload.compiles: row['compiles'] = True
        if 'ours' in row and 'xla' in row:
            for key in ('run', 'compile', 'first', 'memory'): row[key + '_ratio'] = row['ours'][key] / max(row['xla'][key], 1e-9)
            row['first_cached_ratio'] = row['ours']['first_cached'] / row['xla']['first']
        return row

    def row_again(self, name, path, workload, row):
        """The same once more. Others share the memory, which for minutes is half as fast: a row that waits for it is also held
        against what it does just before and after."""
        if not workload or row.get('bound') != 'memory': return self.row(name, path, workload, row)
        near = self.measure_bandwidth()
        self.row(name, path, workload, row)
        keep_faster(near, self.measure_bandwidth())
        limit, bound = limits.limit(workload, {**self.peaks, 'bandwidth': near})
        if bound == 'memory' and 'ours' in row: row['percent_near'] = max(row.get('percent_near', 0), 100 * limit / row['last_run'])
        return row

    def hold_against(self, row, limit, bound):
        if not limit or 'ours' not in row: return
        percent = 100 * limit / row['ours']['run']
        row.update(percent_of_limit=max(percent, row.get('percent_near', 0)) if bound == 'memory' else percent, limit=limit, bound=bound)

    def limit_of_module(self, row, path, inputs):
        """The same for a module of others: the sum over the instructions that its compilation left."""
        if 'ours' not in row: return None
        try: profile = json.loads(self.spawn(self.ours(path, f'--inputs=@{inputs}', '--profile-out=-'))[0])
        except RuntimeError: return None
        return sum(line['roofline_fraction'] * line['time_ns'] for line in profile['rows']) / profile['runs'] / 1e9 or None

    def measure(self, row, path, inputs):
        start = time.perf_counter()
        try:
            if not os.path.exists(inputs): self.spawn(self.ours(path, f'--save-inputs=@{inputs}'))
        except RuntimeError as error:
            row['ours_error'] = str(error); return
        def keep_best(side, found):
            best = row.setdefault(side, found)
            for key in found: best[key] = min(best[key], found[key])
            if side == 'ours': row['last_run'] = found['run']
        for turn in range(self.options.rounds):
            if turn and time.perf_counter() - start > self.options.row_limit: break
            try:
                if 'ours_error' not in row: keep_best('ours', self.measure_ours(path, inputs))
            except RuntimeError as error: row['ours_error'] = str(error)
            if not self.options.xla_python or 'xla_error' in row: continue
            try: keep_best('xla', json.loads(self.spawn([self.options.xla_python, os.path.join(HERE, 'xla_worker.py'), path, inputs, str(self.options.seconds)])[0]))
            except RuntimeError as error: row['xla_error'] = str(error)
        if self.options.compare and 'ours' in row and 'xla' in row: self.compare(row, path, inputs)

    def compare(self, row, path, inputs):
        with tempfile.TemporaryDirectory() as folder:
            results = os.path.join(folder, 'results.npz')
            self.spawn([self.options.xla_python, os.path.join(HERE, 'xla_worker.py'), path, inputs, '0', results])
            command = self.ours(path, f'--inputs=@{inputs}', f'--expected=@{results}')
            found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # saves mismatches there
            if found.returncode: row['differs'] = ((found.stdout + found.stderr).strip().splitlines() or [f'exit {found.returncode}'])[0]

    def measure_ours(self, path, inputs):
        """The first execution of a process that compiles all; as many as fit the time; the first one of a process that
        finds its program in the cache."""
        given = f'--inputs=@{inputs}'
        def times(*more):
            text, _, memory = self.spawn(self.ours(path, given, '--benchmark=json', *more))
            return json.loads(text)['modules'][0], memory
        once, memory = times('--repeats=1', '--warmup=0', '--no-cache')
        first = once['execute_ns']['min'] / 1e9
        repeats = max(3, min(1000, int(self.options.seconds / max(first, 1e-6))))
        many, _ = times(f'--repeats={repeats}', '--warmup=1')
        again, _ = times('--repeats=1', '--warmup=0')
        return {'run': many['execute_ns']['min'] / 1e9, 'median': many['execute_ns']['median'] / 1e9, 'compile': once['compile_ns'] / 1e9,
                'first': self.startup + (once['parse_ns'] + once['compile_ns']) / 1e9 + first,
                'first_cached': self.startup + (again['parse_ns'] + again['compile_ns'] + again['execute_ns']['min']) / 1e9, 'memory': memory}

def rows_to_run(options, folder):
    if options.functions is not None:
        subprocess.run([options.xla_python, os.path.join(HERE, 'functions.py'), folder, options.functions], check=True)
        options.files, options.compare = [folder], True
    if options.files:
        for path in options.files:
            for file in sorted(glob.glob(path + '/**/*.hlo', recursive=True)) if os.path.isdir(path) else [path]: yield os.path.basename(file), file, None
        return
    for i, workload in enumerate(workloads.all_workloads()):
        path = os.path.join(folder, f'{i}.hlo')
        with open(path, 'w') as file: file.write(workload.text)
        yield f'{workload.number} {workload.name}', path, workload
    corpus = os.environ.get('HLO_CORPUS', '')
    for file in sorted(glob.glob(corpus + '/**/*.hlo', recursive=True)) if corpus else []: yield os.path.basename(file), file, None

def time_text(seconds):
    for scale, unit in ((1, 's'), (1e-3, 'ms'), (1e-6, 'us')):
        if seconds >= scale: return f'{seconds / scale:.3g} {unit}'
    return f'{seconds * 1e9:.0f} ns'

LATE_RATIO, LATE_PERCENT = .8, 75
COLUMNS = ('row', 'ours', 'XLA', 'ratio', '% of limit', 'bound', 'compile', 'XLA', 'first result', 'XLA', 'memory', 'XLA')
def cells(row):
    ours, xla = row.get('ours'), row.get('xla')
    def pair(key, text): return [text(ours[key]) if ours else '', text(xla[key]) if xla else '']
    def memory(b): return f'{b / 2**20:.0f} MiB'
    first = [time_text(ours['run']) if ours else 'failed', time_text(xla['run']) if xla else 'failed' if 'xla_error' in row else '']
    return [row['name'], *first, f"{row['run_ratio']:.2f}" if 'run_ratio' in row else '', f"{row['percent_of_limit']:.0f}" if 'percent_of_limit' in row else '', row.get('bound', 'compilation' if row.get('compiles') else ''),
            *pair('compile', time_text), *pair('first', time_text), *pair('memory', memory)]

def reasons(row):
    """Why a side has no times; what compared unequal."""
    return [f'{side}: {row[key]}' for side, key in (('ours skipped', 'ours_error'), ('XLA skipped', 'xla_error'), ('results differ', 'differs')) if key in row]

def summary(rows, call):
    both = [row for row in rows if 'run_ratio' in row]
    mean = lambda key: math.exp(sum(math.log(max(row[key], 1e-9)) for row in both) / len(both))
    lines = []
    if both: lines.append(f"{len(both)} of {len(rows)} rows beside XLA; ratios, geometric means: run {mean('run_ratio'):.2f} (worst {max(row['run_ratio'] for row in both):.1f}), compile {mean('compile_ratio'):.2f}, first result {mean('first_ratio'):.2f} ({mean('first_cached_ratio'):.2f} with cached kernels), memory {mean('memory_ratio'):.2f}")
    slower = sorted((row for row in both if row['run_ratio'] > 1), key=lambda row: -row['run_ratio'])
    if slower: lines.append('slower than XLA: ' + ', '.join(f"{row['name']} {row['run_ratio']:.2f}" for row in slower))
    return lines + limits.explain(rows, call)

def is_late(row):
    """Or nearly: the speed of a shared machine in those seconds may have decided."""
    return row.get('run_ratio', 0) > LATE_RATIO or row.get('percent_of_limit', 100) < LATE_PERCENT

def machine_text(bench):
    model = next((line.split(':', 1)[1].strip() for line in open('/proc/cpuinfo') if line.startswith('model name')), 'unknown CPU')
    flags = next((line.split() for line in open('/proc/cpuinfo') if line.startswith('flags')), [])
    features = ' '.join(f for f in ('avx2', 'avx512f', 'avx512_bf16', 'avx512_vnni', 'amx_bf16', 'amx_int8') if f in flags)
    peaks = ', '.join(f'{type} {rate / 1e9:.0f} GFLOP/s' for type, rate in bench.peaks['flops'].items())
    levels = ', '.join(f"{level['rate'] / 1e9:.1f} GB/s at {level['bytes'] // 1024} KiB" for level in bench.peaks['bandwidth'])
    latencies = ', '.join(f'{op} {seconds * 1e9:.2g} ns' for op, seconds in bench.peaks['latency'].items())
    rates = ', '.join(f'{name} {rate / 1e9:.2g} G/s' for name, rate in bench.peaks['rates'].items() if not isinstance(rate, list))
    return f'{model} ({features}), {bench.options.threads} threads; {peaks}; {levels}; latencies: {latencies}; rates: {rates}; start-up of hlo-run {bench.startup * 1e3:.1f} ms, call {bench.call * 1e9:.0f} ns'

def main():
    options = arguments()
    bench = Bench(options)
    print(machine_text(bench), flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        print(('{:44}' + ' {:>11}' * 11).format(*COLUMNS))
        def show(row):
            print(('{:44.44}' + ' {:>11}' * 11).format(*cells(row)), flush=True)
            for reason in reasons(row): print(f'  {reason}', flush=True)
        runs = []
        for run in rows_to_run(options, folder):
            if not re.search(options.only, run[0]): continue
            runs.append(run); rows.append(bench.row(*run)); show(rows[-1])
        for turn in range(options.late_rounds):
            late = [(run, row) for run, row in zip(runs, rows) if is_late(row)]
            if late: print(f'late rows again ({turn + 1} of {options.late_rounds}):')
            for run, row in late: bench.row_again(*run, row); show(row)
        # Neighbours on a shared machine may have slowed down the first measurement of it.
        bench.peaks = bench.measure_machine(bench.peaks)
        for (_, _, workload), row in zip(runs, rows):
            if workload: bench.hold_against(row, *limits.limit(workload, bench.peaks))
    for line in summary(rows, bench.call): print(line)
    if options.json:
        with open(options.json, 'w') as file: json.dump({'machine': machine_text(bench), 'threads': options.threads, 'peaks': bench.peaks, 'startup': bench.startup, 'call': bench.call, 'rows': rows}, file, indent=1)
    if options.markdown:
        with open(options.markdown, 'w') as file:
            print(machine_text(bench) + '\n', file=file)
            for cells_ in (COLUMNS, ['---'] * len(COLUMNS), *map(cells, rows)): print('| ' + ' | '.join(cells_) + ' |', file=file)
            for row in rows:
                for reason in reasons(row): print(f"\n{row['name']}: {reason}", file=file)
            print('\n' + '\n'.join(summary(rows, bench.call)), file=file)

if __name__ == '__main__': main()
