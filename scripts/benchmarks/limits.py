"""What a workload needs at least, by what bounds it, from what probe.cc measured of the machine."""
import math

TRANSCENDENTAL = 36  # operations that a transcendental function counts as: range reduction, polynomial, scale
FIRST_CACHE = 32 << 10
DIGIT_BITS = 11  # of a radix sort
ENOUGH = 70  # per cent of the limit that a row is to reach

def bounds(work, peaks):
    """Seconds by bound: all of these are needed, though perhaps at the same time."""
    rates, flops = peaks['rates'], peaks['flops']
    found = {
        'arithmetic': work.flops / flops.get(work.peak, flops['f32']) + TRANSCENDENTAL * work.special / flops['f32'],
        'memory': work.bytes * work.sweeps / bandwidth(work.bytes, peaks),
        'latency': work.steps * sum(count * peaks['latency'][op] for op, count in work.chain.items()),
        'division': work.divisions / rates['division'],
        'update': work.updates / rates['update'],
        'random words': work.random_words / rates['philox'],
        'random reads': random_reads(work, rates['reads']),
        'sort passes': sort_passes(work, rates['radix'])}
    return {bound: seconds for bound, seconds in found.items() if seconds > 0}

def bandwidth(bytes, peaks):
    """Of the level of the memory that holds so much."""
    levels = peaks['bandwidth']
    return next((level for level in levels[:-1] if bytes <= 2 * level['bytes']), levels[-1])['rate']

def random_reads(work, measured):
    """Of an array so large: most of them bring a line of the cache each."""
    if not work.reads: return 0
    count, bytes = work.reads
    return count / next((m for m in measured if bytes <= m['bytes']), measured[-1])['rate']

def sort_passes(work, measured):
    """Keys of 32 bits, alone or with positions of as many, by digits; rows are sorted one by one."""
    if not work.sort_rows: return 0
    rows, n, item_bytes = work.sort_rows
    near = next((m for m in measured if n <= m['items']), measured[-1])
    return rows * n * math.ceil(32 / DIGIT_BITS) / near[str(item_bytes)]

def limit(work, peaks):
    """(seconds, bound): the largest; (None, None) for workloads that measure compilation."""
    if work.compiles: return None, None
    bound, seconds = max(bounds(work, peaks).items(), key=lambda item: item[1], default=(None, None))
    return seconds, bound

def sweeps_of_transform(n, element_bytes):
    """How often all data of a Fourier transform of n points goes through memory, when as many points as fit half
    of the first cache are transformed at a time."""
    inner = math.log2(FIRST_CACHE / 2 / element_bytes)
    return max(1, math.ceil(math.log2(n) / inner))

def explain(rows, call):
    """Lines that say how many rows reach enough of their limit, by bound, and which do not. `call`: seconds of a module
    that does nothing."""
    limited = [row for row in rows if 'percent_of_limit' in row]
    if not limited: return []
    reaches = lambda row: row['percent_of_limit'] >= ENOUGH
    compiled = sum(bool(row.get('compiles')) for row in rows)
    lines = [f'{sum(map(reaches, limited))} of {len(limited)} rows reach {ENOUGH} % of what the machine allows'
             + (f'; {compiled} rows measure compilation and have no limit' if compiled else '')]
    for bound in sorted({row['bound'] for row in limited}):
        own = [row for row in limited if row['bound'] == bound]
        short = [row for row in own if not reaches(row)]
        # Of these, those that would reach it but for what entering a module takes.
        entered = [row for row in short if row['limit'] >= ENOUGH / 100 * (row['ours']['run'] - call)]
        lines.append(f'  {bound}: {len(own) - len(short)} of {len(own)}' + (f', {len(entered)} more without the {call * 1e9:.0f} ns of a call' if entered else ''))
        lines += [f"    {row['percent_of_limit']:.0f} % {row['name']}" for row in sorted(short, key=lambda row: row['percent_of_limit'])]
    return lines
