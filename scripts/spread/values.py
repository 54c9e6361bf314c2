"""Results: the same as in one process, whatever the number of processes."""
import json, os, subprocess

from spread.kit import ADD, ENVIRONMENT, ROOT, Skipped, case, errors, expect, same, write


@case
def all_reduce(tools):
    """Small, in pieces, of sizes that do not divide, of several values."""
    for size in (1, 7, 9000, 1000003):
        m = write(f'a{size}.hlo', ADD + f'''ENTRY e {{
  p = f32[{size}] parameter(0)
  k = u32[] replica-id()
  f = f32[] convert(k)
  b = f32[{size}] broadcast(f), dimensions={{}}
  x = f32[{size}] multiply(p, b)
  ROOT r = f32[{size}] all-reduce(x), replica_groups={{{{0,1,2,3}}}}, to_apply=add
}}''')
        same(tools, (2, 4), m, '--output-devices=all', '--large-float-range', '--print=summary')
    m = write('tuple.hlo', ADD + '''ENTRY e {
  p = f32[40000] parameter(0)
  q = f32[5,3] parameter(1)
  ROOT r = (f32[40000], f32[5,3]) all-reduce(p, q), replica_groups={{3,1},{0,2}}, to_apply=add
}''')
    same(tools, (2, 4), m, '--output-devices=all', '--input-scope=per-device', '--print=summary')


@case
def reducers(tools):
    """Types and reducers whose order shows in the last bit."""
    for kind, body in (('bf16', 'add(a, b)'), ('f16', 'multiply(a, b)'), ('s8', 'maximum(a, b)'),
                       ('f64', 'add(a, b)'), ('c64', 'multiply(a, b)'), ('f8e5m2', 'add(a, b)'), ('u4', 'xor(a, b)')):
        m = write(f'r_{kind}.hlo', f'''HloModule m, replica_count=4
f {{ a = {kind}[] parameter(0)  b = {kind}[] parameter(1)  ROOT r = {kind}[] {body} }}
ENTRY e {{ p = {kind}[50001] parameter(0)  ROOT r = {kind}[50001] all-reduce(p), replica_groups={{}}, to_apply=f }}''')
        same(tools, (4,), m, '--output-devices=all', '--input-scope=per-device', '--fake=normal(1,0.1)', '--print=summary')
    m = write('calls.hlo', '''HloModule m, replica_count=2
f { a = f32[] parameter(0)  b = f32[] parameter(1)  e = f32[] exponential(a)  ROOT r = f32[] subtract(e, b) }
ENTRY e { p = f32[20000] parameter(0)  ROOT r = f32[20000] all-reduce(p), to_apply=f }''')
    same(tools, (2,), m, '--output-devices=all', '--input-scope=per-device', '--print=summary')


@case
def conformance(tools):
    """All programs for several devices of the conformance suite, on both platforms."""
    suite = os.path.join(ROOT, 'testdata/conformance')
    with open(os.path.join(suite, 'manifest.json'), encoding='utf-8') as f:
        cases = json.load(f)['cases']
    by_devices = {}
    for c in cases:
        by_devices.setdefault(c.get('replicas', 1) * c.get('partitions', 1), []).append(os.path.join(suite, c['file']))
    for devices, files in sorted(by_devices.items()):
        if devices > 1:
            for platform in ('interpreter', 'cpu'):
                same(tools, [n for n in (2, 3, 4) if devices % n == 0 and (n != 2 or devices != 4 or platform == 'cpu')],
                     *files, f'--platform={platform}', '--output-devices=all', '--input-scope=per-device', '--print=full')


@case
def example(tools):
    """A training loop of the library, and a model in stages: what one process prints, to the bit."""
    for name, word in (('stages', 'input'), ('data_parallel', 'loss')):
        program = os.path.join(tools.folder, f'example_{name}')
        if not os.path.exists(program):
            raise Skipped('the example is not built')
        code, out, err = tools.finish(tools.start([program], env=ENVIRONMENT))
        expect(code == 0 and out.count(word) == 6, f'{code}\n{out}{err}')
        for count in (2, 4):
            got = tools.finish(tools.start(['mpirun', '-np', str(count), program], env=ENVIRONMENT))
            expect(got == (code, out, ''), f'{name}, {count} processes: {got}\nexpected\n{out}')
    code, out, err = tools.finish(tools.start(['mpirun', '-np', '3', program], env=ENVIRONMENT))
    expect(code != 0 and '3 processes cannot share 4 devices evenly' in err, f'{code}\n{out}{err}')


@case
def several_per_process(tools):
    m = write('eight.hlo', ADD.replace('f32', 's32') + '''
ENTRY e {
  p = s32[3] parameter(0)
  g = s32[24] all-gather(p), dimensions={0}, replica_groups={{7,6,5,4,3,2,1,0}}
  s = s32[6] reduce-scatter(g), dimensions={0}, replica_groups={{0,2,4,6},{1,3,5,7}}, to_apply=add
  c = s32[6] collective-permute(s), source_target_pairs={{0,7},{7,3},{3,0}}
  ROOT a = s32[6] all-reduce(c), replica_groups={{0,1,2},{3,4,5},{6,7}}, to_apply=add
}''')
    same(tools, (2, 4, 8), m, '--output-devices=all', '--input-scope=per-device', '--fake=random', '--print=full')


@case
def send_and_receive(tools):
    """Around a ring, large and small, in a loop."""
    for size in (2, 300000):
        pairs = '{{0,1},{1,2},{2,3},{3,0}}'
        attribute = f'channel_id=1, frontend_attributes={{_xla_send_recv_source_target_pairs="{pairs}"}}'
        v = f'f32[{size}]'
        m = write(f'ring{size}.hlo', f'''HloModule ring, replica_count=4
body {{
  s = (s32[], {v}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = {v} get-tuple-element(s), index=1
  t = token[] after-all()
  n = ({v}, u32[], token[]) recv(t), {attribute}
  o = ({v}, u32[], token[]) send(x, t), {attribute}, control-predecessors={{n}}
  w = ({v}, token[]) recv-done(n), {attribute}, control-predecessors={{o}}
  d = token[] send-done(o), {attribute}
  y = {v} get-tuple-element(w), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], {v}) tuple(j, y)
}}
cond {{
  s = (s32[], {v}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(9)
  ROOT c = pred[] compare(i, n), direction=LT
}}
ENTRY e {{
  x = {v} parameter(0)
  z = s32[] constant(0)
  s = (s32[], {v}) tuple(z, x)
  w = (s32[], {v}) while(s), condition=cond, body=body
  ROOT y = {v} get-tuple-element(w), index=1
}}''')
        same(tools, (2, 4), m, '--output-devices=all', '--input-scope=per-device', '--print=summary')


@case
def platforms(tools):
    m = write('p.hlo', ADD + 'ENTRY e { p = f32[300] parameter(0)  ROOT r = f32[300] all-reduce(p), '
              'replica_groups={{0,1}}, to_apply=add }')
    for platform in ('interpreter', 'gpu-emu'):
        same(tools, (2,), m, f'--platform={platform}', '--input-scope=per-device', '--print=summary')
    code, out, err = tools.mpi(2, m, '--reference-platform')
    expect(code == 0 and 'MATCH cpu vs interpreter' in out, f'comparison: {code}\n{out}{err}')
    code, out, err = tools.mpi(2, m, '--input=ones', '--expected=zeros', '--iterations=3', '--until-mismatch')
    expect(code == 1 and out.count('MISMATCH') == 2 and 'replica 1' in out, f'mismatch: {code}\n{out}{err}')


@case
def options(tools):
    """Repetitions, files, feedback, infeed and outfeed: as threads do, written once."""
    m = write('o.hlo', ADD + 'ENTRY e { p = f32[3] parameter(0)  ROOT r = f32[3] all-reduce(p), '
              'replica_groups={{0,1}}, to_apply=add }')
    same(tools, (2,), m, '--chain=0=0', '--repeats=3', '--input={1,2,3}')
    same(tools, (2,), m, m, '--iterations=2', '--print=full')
    for kind, run in (('t', tools.threads), ('m', lambda *a: tools.mpi(2, *a))):
        code, _, err = run(m, f'--output=@{kind}.npz', f'--save-inputs=@{kind}.in.npz', '--input-scope=per-device',
                           '--output-devices=all', f'--result-json={kind}.json', f'--csv={kind}.csv', '--print=none')
        expect(code == 0, f'{kind}: {code} {err}')
    for name in ('npz', 'in.npz'):
        with open(f't.{name}', 'rb') as a, open(f'm.{name}', 'rb') as b:
            expect(a.read() == b.read(), f'{name} differs')
    with open('m.csv', encoding='utf-8') as f:
        expect(len(f.readlines()) == 2, 'the table of times has one row')
    code, out, err = tools.mpi(2, m, '--benchmark=json')
    expect(code == 0 and json.loads(out), f'benchmark: {code}\n{out}{err}')
    code, out, err = tools.mpi(2, m, '--profile')
    expect(code == 0 and out.count('on cpu') == 1, f'profile: {code}\n{out}{err}')
    code, out, err = tools.mpi(2, m, '--passes=algsimp', '--print-changed', '--compile-only')
    expect(code == 0, f'compile only: {code}\n{out}{err}')
    with open(m, encoding='utf-8') as f:
        text = f.read()
    process = tools.start(['mpirun', '-np', '2', tools.run, '--fake=ones'], env=ENVIRONMENT, stdin=subprocess.PIPE)
    code, out, err = tools.finish(process, given=text)
    expect((code, out) == (0, 'output f32[3] = {2, 2, 2}\n'), f'standard input: {code}\n{out}{err}')


@case
def how_many(tools):
    """Without a word about devices every process is a replica."""
    m = write('h.hlo', ADD + 'ENTRY e { p = f32[] parameter(0)  ROOT r = f32[] all-reduce(p), to_apply=add }')
    code, out, err = tools.mpi(3, m, '--fake=ones')
    expect((code, out) == (0, 'output f32[] = 3\n'), f'{code}\n{out}{err}')
    code, out, err = tools.mpi(2, m, '--fake=ones', '--launcher=threads')
    expect(code == 0 and out.count('= 1') == 2, f'each for itself: {code}\n{out}{err}')
    code, out, err = tools.finish(tools.start([tools.run, '--launcher=mpi', '--num-replicas=2', '--fake=ones', m],
                                              env=ENVIRONMENT))
    expect((code, out) == (0, 'output f32[] = 2\n'), f'alone: {code}\n{out}{err}')
    code, out, err = tools.mpi(3, m, '--num-replicas=4')
    expect(code == 2 and errors(err).count('3 processes cannot share 4 replicas and 1 partitions evenly') == 1,
           f'{code}\n{out}{err}')
