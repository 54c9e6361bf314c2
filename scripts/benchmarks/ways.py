"""What ways of products gain (backends/products/README.md): every problem of convolution_forms.py and of the table below by
every way that suits it, forced, least times of two turns. A way's gain on a problem is the least time of tiles
(packed-gemm, packed-gemm-vnni) by its own. Prints each problem with more than one way, then for each way how often it suits and is chosen,
the geometric mean and the extremes of its gain, and how many problems another way would have computed in nine tenths of the time.
"""
import argparse, collections, json, math, os, re, subprocess, tempfile
import convolution_forms, convolutions

TYPES = ['f32', 'f64', 'bf16', 's8', 'c64']
TILES = ('packed-gemm', 'packed-gemm-vnni')
SLOWER = 0.9  # of the chosen way's time, from which on another is told

# Rows, sums, columns of products of two matrices; batches before them where there are some.
DOTS = '''1,768,768 1,1024,50000 1,4096,4096 2,500,700 3,512,512 4,1024,1024 5,300,400 8,768,3072 12,256,256 16,1024,1024 24,512,512
32,512,2048 64,64,64 100,100,100 128,768,768 300,200,500 512,512,512 700,500,2 500,500,10 1024,64,1024 4096,16,16 50,3000,8
12,128,64,128 64,1,64,512 1000,6,6,6 96,1,128,128 16,2,300,200'''.split()


class Dot:
    def __init__(self, text):
        *self.batch, self.rows, self.depth, self.columns = map(int, text.split(','))
        self.name = 'dot ' + 'x'.join(text.split(','))

    def text(self, type):
        shape = lambda type, *dims: f"{type}[{','.join(map(str, [*self.batch, *dims]))}]"
        b = len(self.batch)
        batch = ', lhs_batch_dims={0}, rhs_batch_dims={0}' if b else ''
        x, y = shape(type, self.rows, self.depth), shape(type, self.depth, self.columns)
        result = shape('s32' if type == 's8' else type, self.rows, self.columns)
        return (f'HloModule dot\n\nENTRY main {{\n  x = {x} parameter(0)\n  y = {y} parameter(1)\n'
                f'  ROOT r = {result} dot(x, y){batch}, lhs_contracting_dims={{{b + 1}}}, rhs_contracting_dims={{{b}}}\n}}\n')


def ways_of(opt, path):
    """The chosen way, then others that suit, then tiles; with what the compiler says they cost."""
    text = subprocess.run([opt, '--platform=cpu', '--explain-codegen', path], check=False, capture_output=True, text=True)
    found = re.search(r'^    by ([\w-]+)(?:, about ([^;\n]*) of one thread)?(?:; also suited: (.*))?$', text.stdout + text.stderr, re.M)
    if not found: return []
    ways = [found.group(1)] + [way.split(' ')[0] for way in (found.group(3) or '').split(', ') if way]
    return ways + [tile for tile in TILES if tile not in ways]


class Timer(convolutions.Timer):
    def forced(self, path, way):
        """Least seconds by `way`; None where it cannot."""
        force = f'--force-path={way}'
        try:
            first = self.once(path, 3, force)
        except subprocess.CalledProcessError:
            return None
        repeats = max(3, min(1000, int(convolutions.TURN / first)))
        return min([first] + [self.once(path, repeats, force) for _ in range(2)])


def measure(timer, opt, problem, type):
    path = timer.file(problem.text(type))
    ways = ways_of(opt, path)
    times = {way: timer.forced(path, way) for way in ways}
    times = {way: time for way, time in times.items() if time}
    return {'problem': problem.name, 'type': type, 'chosen': ways[0] if ways else None, 'suited': [w for w in ways if w in times], 'times': times}


def report(rows):
    gains, chosen, slower = collections.defaultdict(list), collections.Counter(), collections.Counter()
    for row in rows:
        times = row['times']
        if row['chosen'] not in times: continue
        chosen[row['chosen']] += 1
        tiles = min([times[tile] for tile in TILES if tile in times], default=None)
        for way, time in times.items():
            if tiles and way not in TILES: gains[way].append(tiles / time)
        if min(times.values()) < SLOWER * times[row['chosen']]: slower[row['chosen']] += 1
    print(f"\n{'way':38} {'suits':>6} {'chosen':>6} {'slower':>6} {'gain':>6} {'least':>6} {'most':>6}")
    for way in sorted(set(gains) | set(chosen), key=lambda w: -math.prod(gains[w]) ** (1 / len(gains[w])) if gains[w] else 0):
        all_of = sorted(gains[way])
        numbers = f'{math.exp(sum(map(math.log, all_of)) / len(all_of)):6.2f} {all_of[0]:6.2f} {all_of[-1]:6.2f}' if all_of else ''
        print(f'{way:38} {len(all_of) or chosen[way]:6} {chosen[way]:6} {slower[way]:6} {numbers}')


def main():
    parser = argparse.ArgumentParser(prog='scripts/bench_ways', description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--forms', metavar='RE', default='', help='problems whose names match')
    parser.add_argument('--types', metavar='RE', default='|'.join(TYPES), help='types that match, as a whole')
    parser.add_argument('--threads', type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument('--json', metavar='FILE')
    parser.add_argument('--hlo-run', default=os.environ.get('HLO_RUN', os.path.join(convolutions.ROOT, 'build/release/bin/hlo-run')))
    options = parser.parse_args()
    options.extra = ''
    opt = os.path.join(os.path.dirname(os.path.abspath(options.hlo_run)), 'hlo-opt')
    problems = [Dot(text) for text in DOTS] + convolution_forms.forms()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        timer = Timer(options, folder)
        for problem in problems:
            for type in convolution_forms.TYPES:
                if not re.search(options.forms, problem.name) or not re.fullmatch(options.types, type): continue
                row = measure(timer, opt, problem, type)
                rows.append(row)
                if len(row['times']) < 2 or row['chosen'] not in row['times']: continue  # or several parts, each by its own way
                best = min(row['times'], key=row['times'].get)
                late = '!' if row['times'][best] < SLOWER * row['times'][row['chosen']] else ' '
                print(f"{problem.name:42} {type:5} {late} " + '  '.join(f'{way} {time * 1e6:.1f}' for way, time in row['times'].items()) + ' us', flush=True)
    report(rows)
    if options.json:
        with open(options.json, 'w', encoding='utf-8') as file: json.dump({'threads': options.threads, 'rows': rows}, file, indent=1)


if __name__ == '__main__': main()
