"""Suite of collectives between devices."""
import re
import numpy as np
from generator.machinery import COMPLEX, FLOATS, H, TYPE_OF, close, suite
from generator.data import ints, normal, program, reducer, shp
from generator.reduction import IDENTITY

# --------------------------------------------------------------------------- collectives
def flat_groups(groups, mode, Rn, P):
    """The groups of flattened device ids (r * P + p) that an instruction with these groups forms."""
    if mode == 'replica': return [[r * P + p for r in g] for g in (groups or [list(range(Rn))]) for p in range(P)]
    if mode == 'partition': return [[r * P + p for p in g] for g in (groups or [list(range(P))]) for r in range(Rn)]
    if mode == 'both': return [[r * P + p for r in g for p in range(P)] for g in (groups or [list(range(Rn))])]
    return groups
def gtext(g): return '{' + ','.join('{' + ','.join(map(str, x)) + '}' for x in g) + '}'

def collective(name, op, attrs, inputs, out, Rn=4, P=1, mode='replica', groups=None, text_groups=None, comps='', body=None, has_flag=True, ids=False, **kw):
    """One collective on Rn x P devices.  `inputs[device]` lists its operands; the equivalent program runs Rn*P replicas."""
    ins = [[np.asarray(a) for a in d] for d in inputs]; decl = ''.join(f'p{k} = {shp(TYPE_OF[a.dtype], a.shape)} parameter({k})\n' for k, a in enumerate(ins[0])); ops = ', '.join(f'p{k}' for k in range(len(ins[0])))
    flags = dict(replica='', partition=', channel_id=1', both=', channel_id=1', flat=', channel_id=1, use_global_device_ids=true')[mode]
    head = 'm' + (f', replica_count={Rn}' if Rn > 1 else '') + (f', num_partitions={P}' if P > 1 else '')
    def build(h, fl, g, rid, pid):
        line = body or f'r = {out} {op}({ops}){{flags}}, replica_groups={{groups}}{attrs}'
        return program(decl + line.replace('{flags}', fl).replace('{groups}', g).replace('{rid}', rid).replace('{pid}', pid), name=h, comps=comps)
    text = build(head, flags, text_groups or gtext(groups or []), 'rid = u32[] replica-id()', 'pid = u32[] partition-id()')
    fg = gtext(flat_groups(groups, mode, Rn, P))
    eq = build(f'm, replica_count={Rn * P}', '', fg, f'fid = u32[] replica-id()\nnp = u32[] constant({P})\nrid = u32[] divide(fid, np)', f'fie = u32[] replica-id()\nnq = u32[] constant({P})\npid = u32[] remainder(fie, nq)')
    c = H(name, text, tier='collective', replicas=Rn, partitions=P, **kw); c.inputs = ins
    if P > 1 or mode != 'replica': c.equiv = eq
    return c

@suite('collectives')
def collectives():
    def X(key, n, d, t='f32'): return [[normal((key, i), d, t) if t in FLOATS + COMPLEX else ints((key, i), d, t, *(() if t == 'pred' else (0, 20)))] for i in range(n)]
    G2, G4 = [[0, 1], [2, 3]], [[0, 3], [2, 1]]
    near = close(1e-5, 1e-5)
    for t in ('f32', 's32', 'bf16', 'f64', 'u8', 's64', 'f16'):
        for op in ('add', 'maximum', 'minimum', 'multiply'):
            if t in ('u8', 's64', 'f16', 'bf16') and op in ('minimum', 'multiply'): continue
            yield collective(f'all_reduce_{op}_{t}', 'all-reduce', ', to_apply=f', X(op + t, 4, (3, 5), t), shp(t, (3, 5)), comps=reducer(op, t, 'f'), compare=(close(0.05, 0.02) if t in ('bf16', 'f16') else near) if t in FLOATS and op in IDENTITY else 'exact')
    for op in ('and', 'or'): yield collective(f'all_reduce_{op}_pred', 'all-reduce', ', to_apply=f', X(op, 4, (9,), 'pred'), shp('pred', (9,)), comps=reducer(op, 'pred', 'f'))
    modes = [('replica', 4, 1, G2), ('replica', 4, 1, G4), ('replica', 8, 1, [[0, 2, 4, 6], [1, 3, 5, 7]]), ('replica', 2, 2, None), ('replica', 2, 2, [[1, 0]]), ('partition', 1, 4, G2), ('partition', 2, 2, [[0, 1]]), ('both', 2, 2, [[0, 1]]), ('both', 4, 2, [[0, 2], [3, 1]]), ('flat', 2, 2, G4), ('flat', 1, 4, [[3, 2, 1, 0]]), ('flat', 2, 3, [[0, 5], [1, 4], [2, 3]]), ('replica', 3, 1, None)]
    for k, (m, Rn, P, g) in enumerate(modes):
        n = Rn * P; size = len(flat_groups(g, m, Rn, P)[0]); kw = dict(Rn=Rn, P=P, mode=m, groups=g); x = X(('md', k), n, (4, 6), 's32'); S = shp('s32', (4, 6)); tag = f'{m}_{k}'
        if m != 'partition':
            yield collective(f'all_reduce_{tag}', 'all-reduce', ', to_apply=f', x, S, comps=reducer('add', 's32', 'f'), **kw)
            yield collective(f'all_gather_{tag}', 'all-gather', f', dimensions={{{k % 2}}}', x, shp('s32', (4 * size, 6) if k % 2 == 0 else (4, 6 * size)), **kw)
            y = X(('me', k), n, (size * 2, 3), 's32'); yield collective(f'reduce_scatter_{tag}', 'reduce-scatter', ', dimensions={0}, to_apply=f', y, shp('s32', (2, 3)), comps=reducer('add', 's32', 'f'), **kw)
        if m in ('replica', 'partition'):
            z = X(('mf', k), n, (3, size * 2), 's32'); yield collective(f'all_to_all_{tag}', 'all-to-all', ', dimensions={1}', z, shp('s32', (3, size * 2)), **{**kw, 'groups': g or [list(range(Rn))]})
            w = [[ints(('mg', k, i, j), (2, 2), 's32', 0, 99) for j in range(size)] for i in range(n)]; yield collective(f'all_to_all_tuple_{tag}', 'all-to-all', '', w, '(' + ', '.join([shp('s32', (2, 2))] * size) + ')', **kw)
    two = [[normal(('tw', i), (3,)), ints(('tx', i), (2, 2), 's32')] for i in range(4)]
    yield collective('all_reduce_tuple', 'all-reduce', ', to_apply=f', [[a, b.astype('f4')] for a, b in two], '(f32[3]{0}, f32[2,2]{1,0})', groups=G2, comps=reducer('maximum', 'f32', 'f'))
    yield collective('all_gather_tuple', 'all-gather', ', dimensions={0}', two, '(f32[6]{0}, s32[4,2]{1,0})', groups=G2)
    for k, g in enumerate(['[2,2]<=[4]', '[2,2]<=[2,2]T(1,0)', '[1,4]<=[4]', '[4,1]<=[4]']):
        dims = [int(v) for v in re.findall(r'\d+', g.split('<=')[0])]; v = np.arange(4).reshape(2, 2).T.reshape(-1) if 'T' in g else np.arange(4)
        yield collective(f'iota_groups_{k}', 'all-gather', ', dimensions={0}', X(('ig', k), 4, (3,), 's32'), shp('s32', (3 * dims[1],)), groups=v.reshape(dims).tolist(), text_groups=g)
    for k, (pairs_, Rn, P, m) in enumerate([([(0, 1), (1, 2), (2, 3), (3, 0)], 4, 1, 'replica'), ([(0, 2), (3, 1)], 4, 1, 'replica'), ([(1, 1)], 4, 1, 'replica'), ([(0, 1), (1, 0)], 2, 2, 'replica'), ([(0, 1)], 2, 2, 'partition'), ([(0, 2), (2, 1)], 1, 3, 'partition')]):
        n = Rn * P; fp = [(a * P + p, b * P + p) for a, b in pairs_ for p in range(P)] if m == 'replica' else [(r * P + a, r * P + b) for a, b in pairs_ for r in range(Rn)]
        ch = ', channel_id=1' if m == 'partition' else ''; T = lambda pp: '{' + ','.join(f'{{{a},{b}}}' for a, b in pp) + '}'; x = X(('cp', k), n, (2, 5))
        for form in ('', '_start'):
            line = f'r = f32[2,5]{{1,0}} collective-permute(p0)%s, source_target_pairs=%s' if not form else 's = (f32[2,5]{1,0}, f32[2,5]{1,0}) collective-permute-start(p0)%s, source_target_pairs=%s\nr = f32[2,5]{1,0} collective-permute-done(s)'
            c = collective(f'collective_permute{form}_{k}', '', '', x, '', Rn=Rn, P=P, body=line % (ch, T(pairs_))); e = collective('e', '', '', x, '', Rn=n, P=1, body='r = f32[2,5]{1,0} collective-permute(p0), source_target_pairs=' + T(fp)); c.equiv = e.text; yield c
    S = 'f32[3,4]{1,0}'; x = X('st', 4, (3, 4))
    sync = collective('e', 'all-reduce', ', to_apply=f', x, S, groups=G2, comps=reducer('add', 'f32', 'f')).text
    yield collective('all_reduce_start_done', '', '', x, '', groups=G2, comps=reducer('add', 'f32', 'f'), body=f's = {S} all-reduce-start(p0), replica_groups={{groups}}, to_apply=f\nr = {S} all-reduce-done(s)', compare=near); 
    gathered = collective('e', 'all-gather', ', dimensions={0}', x, 'f32[6,4]{1,0}', groups=G2).text
    c = collective('all_gather_start_done', '', '', x, '', groups=G2, body=f's = ({S}, f32[6,4]{{1,0}}) all-gather-start(p0), replica_groups={{groups}}, dimensions={{0}}\nr = f32[6,4]{{1,0}} all-gather-done(s)'); c.equiv = gathered; yield c
    y = X('rs', 4, (4, 4)); plain = collective('e', 'reduce-scatter', ', dimensions={0}, to_apply=f', y, 'f32[2,4]{1,0}', groups=G2, comps=reducer('add', 'f32', 'f')).text
    c = collective('reduce_scatter_async_sugar', '', '', y, '', groups=G2, comps=reducer('add', 'f32', 'f'), body='s = ((f32[4,4]{1,0}), f32[2,4]{1,0}) reduce-scatter-start(p0), replica_groups={groups}, dimensions={0}, to_apply=f\nr = f32[2,4]{1,0} reduce-scatter-done(s)', compare=near); c.equiv = plain; yield c
    for Rn, P in [(4, 1), (1, 4), (2, 3)]: yield collective(f'device_ids_{Rn}x{P}', '', '', [[np.uint32(10)]] * (Rn * P), '', Rn=Rn, P=P, mode='partition', body='{rid}\n{pid}\nk = u32[] multiply(rid, p0)\ns = u32[] add(k, pid)\nROOT t = (u32[], u32[], u32[]) tuple(rid, pid, s)')
    yield collective('all_reduce_mean_of_squares', '', '', X('ms', 4, (6,)), '', groups=None, comps=reducer('add', 'f32', 'f'), body='q = f32[6]{0} multiply(p0, p0)\ns = f32[6]{0} all-reduce(q), replica_groups={}, to_apply=f\nn = f32[] constant(4)\nb = f32[6]{0} broadcast(n), dimensions={}\nm = f32[6]{0} divide(s, b)\nr = f32[6]{0} sqrt(m)', compare=near)
    loop = 'c {\n  t = (s32[], s32[5]{0}) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  n = s32[] constant(3)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n\nb {\n  t = (s32[], s32[5]{0}) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  k = s32[] constant(1)\n  j = s32[] add(i, k)\n  x = s32[5]{0} get-tuple-element(t), index=1\n  y = s32[5]{0} collective-permute(x), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}\n  z = s32[5]{0} add(x, y)\n  ROOT r = (s32[], s32[5]{0}) tuple(j, z)\n}\n'
    yield collective('permute_in_loop', '', '', X('lp', 4, (5,), 's32'), '', comps=loop, body='z = s32[] constant(0)\nt = (s32[], s32[5]{0}) tuple(z, p0)\nw = (s32[], s32[5]{0}) while(t), condition=c, body=b\nr = s32[5]{0} get-tuple-element(w), index=1')
    yield collective('data_parallel_step', '', '', [[normal(('dpx', i), (5, 3)), normal(('dpy', i), (5,)), normal('dpw', 3)] for i in range(4)], '', comps=reducer('add', 'f32', 'f'), compare=near, body='h = f32[5]{0} dot(p0, p2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\ne = f32[5]{0} subtract(h, p1)\ng = f32[3]{0} dot(p0, e), lhs_contracting_dims={0}, rhs_contracting_dims={0}\ns = f32[3]{0} all-reduce(g), replica_groups={}, to_apply=f\nl = f32[] constant(0.01)\nb = f32[3]{0} broadcast(l), dimensions={}\nd = f32[3]{0} multiply(s, b)\nr = f32[3]{0} subtract(p2, d)')
    yield collective('sharded_matmul', '', '', [[normal(('sma', i), (4, 3)), normal(('smb', i), (3, 6))] for i in range(4)], '', groups=[[0, 1, 2, 3]], comps=reducer('add', 'f32', 'f'), compare=near, body='d = f32[4,6]{1,0} dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\ns = f32[1,6]{1,0} reduce-scatter(d), replica_groups={groups}, dimensions={0}, to_apply=f\nr = f32[4,6]{1,0} all-gather(s), replica_groups={groups}, dimensions={0}')
    yield collective('no_collective_two_replicas', '', '', X('nc', 2, (4,)), '', Rn=2, body='r = f32[4]{0} negate(p0)')
    bx = X('cb', 4, (3,))
    yield collective('collective_broadcast', 'collective-broadcast', '', bx, 'f32[3]{0}', groups=[[2, 0], [1, 3]], expect=lambda i: [[i[2][0]], [i[1][0]], [i[2][0]], [i[1][0]]], by='definition')
    yield collective('collective_broadcast_partial', 'collective-broadcast', '', bx, 'f32[3]{0}', groups=[[3, 1]], expect=lambda i: [[np.zeros(3, 'f4')], [i[3][0]], [np.zeros(3, 'f4')], [i[3][0]]], by='definition')
