"""Cases, their execution by XLA, tolerances, the files."""
import os, pickle, re, select, signal, sys, time, zlib
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=8'
os.environ.setdefault('JAX_PLATFORMS', 'cpu')
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
import numpy as np
import ml_dtypes
import jax, jax.numpy as jnp
from jax import lax
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import run as R

jax.config.update('jax_enable_x64', True)      # tracing switches it off unless a case asks for x64
np.seterr(all='ignore')

DT = {k: np.dtype(v) for k, v in R.NATIVE.items()}
for _t, _n in dict(bf16='bfloat16', f8e5m2='float8_e5m2', f8e4m3='float8_e4m3', f8e3m4='float8_e3m4', f8e4m3fn='float8_e4m3fn',
                   f8e4m3b11fnuz='float8_e4m3b11fnuz', f8e4m3fnuz='float8_e4m3fnuz', f8e5m2fnuz='float8_e5m2fnuz',
                   f8e8m0fnu='float8_e8m0fnu', f4e2m1fn='float4_e2m1fn', s1='int1', u1='uint1', s2='int2', u2='uint2', s4='int4', u4='uint4').items():
    DT[_t] = np.dtype(getattr(ml_dtypes, _n))
TYPE_OF = {v: k for k, v in DT.items()}
F8 = ['f8e5m2', 'f8e4m3', 'f8e3m4', 'f8e4m3fn', 'f8e4m3b11fnuz', 'f8e4m3fnuz', 'f8e5m2fnuz', 'f8e8m0fnu']
FLOATS = ['f16', 'bf16', 'f32', 'f64']
SIGNED = ['s8', 's16', 's32', 's64']; UNSIGNED = ['u8', 'u16', 'u32', 'u64']
SMALL_INTS = ['s2', 'u2', 's4', 'u4']
COMPLEX = ['c64', 'c128']
EPS = dict(f64=2.0**-53, f32=2.0**-24, f16=2.0**-11, bf16=2.0**-8, c64=2.0**-24, c128=2.0**-53)
MIN_NORMAL = dict(f64=2.0**-1022, f32=2.0**-126, f16=2.0**-14, bf16=2.0**-126, c64=2.0**-126, c128=2.0**-1022)
EXACT = dict(mode='exact')

def ulp(n, t=None): return dict(mode='ulp', ulp=n, **({'abs': 2 * MIN_NORMAL[t]} if t in MIN_NORMAL else {}))
def close(abs=0.0, rel=0.0): return dict(mode='close', abs=abs, rel=rel)

class Case:
    """One program.  `compare`: 'exact', 'auto' (derived, see tolerance()), a rule, or a list with one of these per output.
    equiv:   text that XLA:CPU can run with the same meaning, where it cannot run `text` itself
    expect:  function(inputs) -> flat outputs, where XLA:CPU is not the judge (by = who is)
    inputs:  flat list of arrays, or for several devices a list (per device) of such lists"""
    def __init__(self, name, text=None, inputs=(), compare='exact', fn=None, args=None, tier='core', equiv=None, expect=None,
                 by='xla', slack=1.0, x64=False, replicas=1, partitions=1, note=None, optimized=False, keep_text=False, extra=None, flags=None):
        self.__dict__.update(locals()); del self.__dict__['self']

def J(name, fn, *args, **kw):
    """A case traced by JAX."""
    kw.setdefault('compare', 'auto')
    return Case(name, fn=fn, args=args, **kw)

def H(name, text, *inputs, **kw):
    """A case written as HLO text."""
    return Case(name, text=text, inputs=[np.asarray(x) for x in inputs], **kw)

SUITES = {}
def suite(name):
    def reg(f): SUITES[name] = f; return f
    return reg

class VARIANT:
    """Which programs are made: seeds begin with it."""
    seed = 'public'

def seed_of(*key): return np.random.default_rng([zlib.crc32(repr(k).encode()) for k in key])

def _print_options():
    from jaxlib import _hlo
    o = _hlo.HloPrintOptions(); o.print_metadata = False; o.print_large_constants = True
    return o

def canonical(text):
    from jaxlib import _hlo
    return _hlo.hlo_module_from_text(text).to_string(_print_options()).rstrip() + '\n'

def lower(case):
    """(HLO text, flat inputs, lowered) of a JAX case."""
    with jax.enable_x64(bool(case.x64)):
        lowered = jax.jit(case.fn, keep_unused=True).lower(*case.args)
        text = lowered.compiler_ir('hlo').as_hlo_module().to_string(_print_options()).rstrip() + '\n'
    return text, [np.asarray(x) for x in jax.tree.leaves(case.args)], lowered

def leaves(shape, index=()):
    """[(tuple index, type, dims)] of a shape, tokens left out."""
    if shape.is_tuple():
        return [l for i, s in enumerate(shape.tuple_shapes()) for l in leaves(s, index + (i,))]
    if shape.is_token(): return []
    return [(list(index), re.match(r'\w+', str(shape))[0], list(shape.dimensions()))]

def signature(text):
    from jaxlib import _hlo
    ps = _hlo.XlaComputation(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()).program_shape()
    params = [l for k, s in enumerate(ps.parameter_shapes()) for l in leaves(s, (k,))]
    res = ps.result_shape(); outs = leaves(res)
    for o in outs: o[0][:] = o[0] or [0]
    return params, outs

def execute(text, inputs, replicas=1, partitions=1):
    """Flat outputs from XLA:CPU; with several devices inputs and outputs are lists per device."""
    from jaxlib import _hlo, _jax
    import jaxlib.xla_client as xc
    client = jax.devices('cpu')[0].client; n = replicas * partitions
    proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    mlir = _jax.mlir.hlo_to_stablehlo(proto)
    opts = xc.CompileOptions(); opts.num_replicas, opts.num_partitions = replicas, partitions
    opts.executable_build_options.num_replicas, opts.executable_build_options.num_partitions = replicas, partitions
    if partitions > 1: opts.executable_build_options.use_spmd_partitioning = True
    devs = client.local_devices()[:n]
    if n > 1: opts.device_assignment = xc.DeviceAssignment.create(np.arange(n).reshape(partitions, replicas).T.copy())
    exe = client.compile_and_load(mlir, xc.DeviceList(tuple(devs)), opts)
    if n == 1:
        bufs = [jax.device_put(np.asarray(a), devs[0]) for a in inputs]
        return [np.asarray(x) for x in exe.execute(bufs)]
    return execute_many(exe, devs, inputs, replicas, partitions)

def execute_many(exe, devs, inputs, replicas, partitions):
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    n = len(devs); order = [devs[p * replicas + r] for r in range(replicas) for p in range(partitions)]
    mesh = Mesh(np.array(devs), ('d',)); args = []
    for k in range(len(inputs[0])):     # per-device buffers, glued into one array sharded along dimension 0
        flat = [jax.device_put(np.asarray(inputs[order.index(d)][k]), d) for d in devs]
        if flat[0].ndim == 0: arr = jax.make_array_from_single_device_arrays((), NamedSharding(mesh, PartitionSpec()), flat)
        else: arr = jax.make_array_from_single_device_arrays((n * flat[0].shape[0],) + flat[0].shape[1:], NamedSharding(mesh, PartitionSpec('d')), flat)
        args.append(arr)
    res = exe.execute_sharded(args).disassemble_into_single_device_arrays()
    outs = [[None] * len(res) for _ in range(n)]
    for k, per in enumerate(res):
        for a in per: outs[order.index(list(a.devices())[0])][k] = np.asarray(a)
    return outs

# ---- tolerances
_WIDE = re.compile(r'\b(f32|bf16|f16|f8e\w+|f4e\w+)\[')
def widened(text):
    """The same program in f64/c128, or None where the text says something about bits."""
    if re.search(r'custom_call_target|reduce-precision|stochastic-convert', text): return None
    out = []
    for line in text.split('\n'):
        m = re.match(r'(\s*(?:ROOT )?)(%?[\w.-]+) = (f32|bf16|f16)(\[[^ ]*) bitcast-convert\((%?[\w.-]+)\)', line)
        if m:
            if m[1].strip() == 'ROOT': return None
            out.append(f'{m[1]}{m[2]}.narrow = {m[3]}{m[4]} bitcast-convert({m[5]})'.replace('%', ''))
            out.append(f'{m[1]}{m[2]} = f64{m[4]} convert({m[2]}.narrow)'.replace('%', '')); continue
        if 'bitcast-convert(' in line: return None
        out.append(_WIDE.sub('f64[', line).replace('c64[', 'c128[').replace('%', ''))
    return '\n'.join(out)

def widen(a):
    t = TYPE_OF[a.dtype]
    if t == 'c64': return a.astype(np.complex128)
    return a.astype(np.float64) if R.is_float(t) else a

def tolerance(text, inputs, outs, types, slack):
    """Rules for float outputs, from the error that XLA itself makes against the same program in float64.

    With e the error of XLA, m the root mean square of the output and u the unit roundoff of its type an element passes if
      |actual - expected| <= A + R |expected|,   R = 32 u slack (8 u for 16-bit types),   A = slack max(8 max e*, 4 r m, u m / 2)
    (half of that and no slack where r > 1e-3, that is in programs that compute in 16 bits)
    e* = errors above 2u relative (those that come from cancellation, not from the last rounding);
    r  = the largest e/m over the outputs of that type, so that one lucky output does not get a tight rule."""
    wide = widened(text); ref = None
    if wide is not None:
        try: ref = execute(wide, [widen(a) for a in inputs])
        except Exception: ref = None
    rules, stat = [], {}
    for k, (o, t) in enumerate(zip(outs, types)):
        if not (R.is_float(t) or R.is_complex(t)) or o.size == 0: continue
        u = EPS.get(t, 2.0**-3)
        f = o.astype(np.complex128 if t in COMPLEX else np.float64)
        w = np.asarray(ref[k]) if ref is not None else f
        ok = np.isfinite(f) & np.isfinite(w)
        e = np.where(ok, np.abs(f - w), 0); m = float(np.sqrt(np.mean(np.abs(w[ok])**2))) if ok.any() else 0.0
        big = e[e > 2 * u * np.abs(np.where(ok, w, 0))]
        stat[k] = (u, float(e.max()), float(big.max()) if big.size else 0.0, m)
    for k, (o, t) in enumerate(zip(outs, types)):
        if k not in stat:
            rules.append(EXACT); continue
        u, e, big, m = stat[k]
        r = max([s[1] / s[3] for j, s in stat.items() if isinstance(j, int) and s[0] == u and s[3] > 0] or [0])
        if ref is None: r = max(r, 4 * u)
        sl = slack * (1 if ref is not None else 4)
        r = min(r, 0.02 if r > 1e-3 else 200 * u)       # one ill-conditioned output must not excuse the others
        if r > 1e-3: A, rel = max(4 * big, 2 * r * m if big else 0, u * m / 2), 8 * u if u > 1e-4 else 32 * u    # computed in 16 bits or less
        else: A, rel = sl * max(8 * big, 4 * r * m if big else 0, u * m / 2), 32 * u * sl if u < 1e-4 else 8 * u
        rules.append(close(float(f'{max(A, 2 * MIN_NORMAL.get(t, 0)):.3g}'), float(f'{rel:.3g}')))
    flips = []
    if ref is not None:
        for k, (o, t) in enumerate(zip(outs, types)):
            if k not in stat and o.size and not np.array_equal(o, np.asarray(ref[k])): flips.append(k)
    return rules, flips, ref is not None

def opcodes(text):
    found = set(re.findall(r'= (?:\([^=]*?\)|[\w]+\[[^ ]*) ([a-z][a-z0-9-]*)\(', text))
    return sorted(found)

def store(t, a):
    a = np.asarray(a, order='C')
    if t in R.NATIVE: return a
    return R.significant(t, a.view(R.storage_dtype(t)))

def realise(case):
    """Text, inputs and expected outputs of a case, ready to be written."""
    many = case.replicas * case.partitions > 1
    if case.fn is not None:
        text, inputs, lowered = lower(case)
        run_text = text
        if case.optimized:
            with jax.enable_x64(bool(case.x64)): compiled = lowered.compile()
            text = compiled.runtime_executable().hlo_modules()[0].to_string(_print_options()).rstrip() + '\n'
            text = re.sub(r', allow_spmd_sharding_propagation_to_(parameters|output)=\{[a-z,]*\}', '', text)
    else:
        inputs = case.inputs; text = case.text if case.keep_text else canonical(case.text); run_text = case.equiv or text
    sig_text = text
    if case.keep_text:
        try: canonical(text)                         # XLA's parser must accept it
        except Exception:
            if not case.equiv: raise
            sig_text = case.equiv
    params, outs_sig = signature(sig_text)
    if not many:
        assert len(params) == len(inputs), f'{len(params)} parameters, {len(inputs)} inputs'
        for p, a in zip(params, inputs):
            assert TYPE_OF[a.dtype] == p[1] and list(a.shape) == p[2], f'input {a.dtype}{a.shape} for {p}'
    if case.expect: outs = case.expect(inputs)
    elif case.equiv and many: outs = execute(run_text, inputs, case.replicas * case.partitions, 1)
    else: outs = execute(run_text, inputs, case.replicas, case.partitions)
    types = [o[1] for o in outs_sig]
    per = outs if many else [outs]
    for dev in per:
        assert len(dev) == len(types), f'{len(dev)} outputs, expected {len(types)}'
        for a, o in zip(dev, outs_sig):
            assert TYPE_OF[a.dtype] == o[1] and list(a.shape) == o[2], f'output {a.dtype}{a.shape} for {o}'
    cmp = case.compare(inputs, outs) if callable(case.compare) else case.compare
    if cmp == 'linalg':         # backward stable algorithms on well-conditioned matrices
        cmp = [close(1e-4, 1e-4) if t in ('f32', 'c64') else close(1e-11, 1e-11) if R.is_float(t) or R.is_complex(t) else EXACT for t in types]
    if not isinstance(cmp, list): cmp = [cmp] * len(types)
    derived = None
    if 'auto' in cmp:
        if many: derived = ([close(2e-5, 1e-5) if (R.is_float(t) or R.is_complex(t)) else EXACT for t in types], [], False)
        else: derived = tolerance(run_text, inputs, outs, types, case.slack)
    rules = [derived[0][k] if c == 'auto' else EXACT if c == 'exact' else c for k, c in enumerate(cmp)]
    warn = f'integer outputs {derived[1]} differ in float64' if derived and [k for k in derived[1] if cmp[k] == 'auto'] else ''
    arrays = {}
    for d in range(case.replicas * case.partitions):
        tag = f'@{d}' if many else ''
        for k, p in enumerate(params): arrays[f'in{k}{tag}'] = store(p[1], (inputs[d] if many else inputs)[k])
        for k, o in enumerate(outs_sig): arrays[f'out{k}{tag}'] = store(o[1], per[d][k])
    meta = dict(parameters=[dict(index=p[0], type=p[1], shape=p[2]) for p in params],
                outputs=[dict(index=o[0], type=o[1], shape=o[2], compare=r) for o, r in zip(outs_sig, rules)],
                opcodes=opcodes(text), tier=case.tier, source='optimized' if case.optimized else 'jax' if case.fn else 'text',
                expected_by=case.by if case.expect else 'xla:cpu (equivalent program)' if case.equiv else 'xla:cpu')
    if many: meta.update(replicas=case.replicas, partitions=case.partitions)
    if case.note: meta['note'] = case.note
    if 'lapack_' in text and case.tier != 'collective': meta['tier'] = 'lapack'
    if case.flags: meta['flags'] = case.flags
    if case.extra: meta.update(case.extra)
    return text, arrays, meta, warn

def work(cases, out, conn):
    for i, (s, c) in cases:
        conn.write(pickle.dumps(('start', i)) ); conn.flush()
        try:
            if hasattr(c, 'make'): c = c.make()
            text, arrays, meta, warn = realise(c)
            base = f'cases/{s}/{c.name}'; path = os.path.join(out, base)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path + '.hlo', 'w') as f: f.write(text)
            np.savez_compressed(path + '.npz', **arrays)
            meta = dict(suite=s, name=c.name, file=base + '.hlo', data=base + '.npz', **meta)
            conn.write(pickle.dumps(('ok', i, meta, warn)))
        except BaseException as e:
            conn.write(pickle.dumps(('error', i, f'{type(e).__name__}: {e}'[:600])))
        conn.flush()

def run_all(cases, out, jobs, limit=240):
    """Realise the cases in forked workers, so that a crash of XLA costs one case."""
    todo = list(enumerate(cases)); todo.reverse(); done = {}; failed = {}; live = []
    def spawn():
        chunk = [todo.pop() for _ in range(min(25, len(todo)))]
        r, w = os.pipe(); pid = os.fork()
        if pid == 0:
            os.close(r)
            if not os.environ.get('CONF_DEBUG'): os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            with os.fdopen(w, 'wb') as f: work(chunk, out, f)
            os._exit(0)
        os.close(w); live.append(dict(pid=pid, fd=r, buf=b'', chunk=chunk, seen=set(), current=None, since=time.time()))
    while todo or live:
        while todo and len(live) < jobs: spawn()
        ready = select.select([l['fd'] for l in live], [], [], 5)[0]
        for l in list(live):
            if l['fd'] in ready:
                data = os.read(l['fd'], 1 << 20)
                if data:
                    l['buf'] += data
                    while l['buf']:
                        import io
                        b = io.BytesIO(l['buf'])
                        try: msg = pickle.load(b)
                        except Exception: break
                        l['buf'] = l['buf'][b.tell():]
                        if msg[0] == 'start': l['current'] = msg[1]; l['since'] = time.time(); continue
                        l['seen'].add(msg[1]); l['current'] = None
                        if msg[0] == 'ok':
                            done[msg[1]] = msg[2]
                            if msg[3]: print(f"warn  {msg[2]['suite']}/{msg[2]['name']}: {msg[3]}", flush=True)
                        else:
                            failed[msg[1]] = msg[2]; s, c = cases[msg[1]]; print(f'error {s}/{c.name}: {msg[2][:400]}', flush=True)
                    continue
                os.close(l['fd']); _, st = os.waitpid(l['pid'], 0); live.remove(l)
                if l['current'] is not None:
                    i = l['current']; failed[i] = f'crash, signal {st & 127}'; l['seen'].add(i)
                    s, c = cases[i]; print(f'crash {s}/{c.name}: signal {st & 127}', flush=True)
                todo.extend(reversed([x for x in l['chunk'] if x[0] not in l['seen']]))
            elif l['current'] is not None and time.time() - l['since'] > limit:
                os.kill(l['pid'], signal.SIGKILL)
    return done, failed
