#!/usr/bin/env python3
"""Writes HLO modules of given shape and size, always the same text for the same arguments.

usage: models.py KIND [INSTRUCTIONS [FILE]]      KIND: a function of the table below, e.g. transformer
"""
import sys

REDUCER = '''add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT sum = f32[] add(x, y)
}

'''


def metadata(op_name, line=1):
    return f', metadata={{op_name="{op_name}" source_file="model/layers.py" source_line={line}}}'


def chain(count):
    """Each instruction uses the one before."""
    lines = ['  p = f32[16] parameter(0)']
    for i in range(1, count):
        root = 'ROOT ' if i == count - 1 else ''
        lines.append(f'  {root}n{i} = f32[16] negate({"p" if i == 1 else f"n{i - 1}"}){metadata(f"jit(f)/step_{i % 10}/neg", i)}')
    return 'HloModule chain\n\nENTRY main {\n' + '\n'.join(lines) + '\n}\n'


def wide(count):
    """One parameter with that many users, all gathered in one tuple."""
    lines = ['  p = f32[16] parameter(0)']
    lines += [f'  branch.{i} = f32[16] tanh(p){metadata(f"jit(f)/branch_{i}/tanh", i)}' for i in range(count - 2)]
    names = ', '.join(f'branch.{i}' for i in range(count - 2))
    shapes = ', '.join(['f32[16]'] * (count - 2))
    lines.append(f'  ROOT t = ({shapes}) tuple({names})')
    return 'HloModule wide\n\nENTRY main {\n' + '\n'.join(lines) + '\n}\n'


def deep(count, depth=40):
    """op_names of many levels, every instruction in a group of its own."""
    lines = ['  p = f32[16] parameter(0)']
    for i in range(1, count):
        path = 'jit(f)/' + '/'.join(f'level_{d}_{i * (d + 1) % 3}' for d in range(depth))
        root = 'ROOT ' if i == count - 1 else ''
        lines.append(f'  {root}n{i} = f32[16] negate({"p" if i == 1 else f"n{i - 1}"}){metadata(path + "/neg", i)}')
    return 'HloModule deep\n\nENTRY main {\n' + '\n'.join(lines) + '\n}\n'


def layer(i, source):
    """A layer of a transformer: (lines, name of its result). It uses the value `source`."""
    scope, lines, made = f'jit(train_step)/jit(main)/layer_{i}', [], {'source': source}

    def add(key, shape, text, where):
        operands = text.format(**made)
        name = f'{key}.{i}'
        lines.append(f'  {name} = {shape} {operands}{metadata(f"{scope}/{where}", 10 + len(lines))}')
        made[key] = name

    x, square, scores = 'f32[64,32]', 'f32[32,32]', 'f32[64,64]'
    for weight in ('wq', 'wk', 'wv', 'wo', 'w1', 'w2'):
        add(weight + '_seed', 'f32[]', f'constant(0.0{i % 9 + 1})', f'params/{weight}/init')
        add(weight, square, f'broadcast({{{weight}_seed}}), dimensions={{{{}}}}', f'params/{weight}/fill')
    add('zero', 'f32[]', 'constant(0)', 'norm/zero')
    add('mean', 'f32[64]', 'reduce({source}, {zero}), dimensions={{1}}, to_apply=add', 'norm/reduce_sum')
    add('mean_b', x, 'broadcast({mean}), dimensions={{0}}', 'norm/broadcast')
    add('centred', x, 'subtract({source}, {mean_b})', 'norm/sub')
    for head in 'qkv':
        add(head, x, f'dot({{centred}}, {{w{head}}}), lhs_contracting_dims={{{{1}}}}, rhs_contracting_dims={{{{0}}}}',
            f'attention/{head}_proj/dot_general')
    add('kt', 'f32[32,64]', 'transpose({k}), dimensions={{1,0}}', 'attention/transpose')
    add('scores', scores, 'dot({q}, {kt}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}', 'attention/scores/dot_general')
    add('exp', scores, 'exponential({scores})', 'attention/softmax/exp')
    add('total', 'f32[64]', 'reduce({exp}, {zero}), dimensions={{1}}, to_apply=add', 'attention/softmax/reduce_sum')
    add('total_b', scores, 'broadcast({total}), dimensions={{0}}', 'attention/softmax/broadcast')
    add('prob', scores, 'divide({exp}, {total_b})', 'attention/softmax/div')
    add('mixed', x, 'dot({prob}, {v}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}', 'attention/mix/dot_general')
    add('out', x, 'dot({mixed}, {wo}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}', 'attention/out_proj/dot_general')
    add('res', x, 'add({source}, {out})', 'attention/residual/add')
    add('up', x, 'dot({res}, {w1}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}', 'mlp/up/dot_general')
    add('act', x, 'tanh({up})', 'mlp/tanh')
    add('down', x, 'dot({act}, {w2}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}', 'mlp/down/dot_general')
    add('layer', x, 'add({res}, {down})', 'mlp/residual/add')
    return lines, made['layer']


def transformer(count):
    """Layers as a training framework writes them, with op_names of several levels; about `count` instructions."""
    lines, value = ['  tokens = f32[64,32] parameter(0)'], 'tokens'
    i = 0
    while len(lines) < count - 1:
        more, value = layer(i, value)
        lines += more
        i += 1
    lines.append(f'  ROOT loss = (f32[64,32]) tuple({value})')
    return 'HloModule transformer\n\n' + REDUCER + 'ENTRY main {\n' + '\n'.join(lines) + '\n}\n'


def nested(count):
    """Fusions, a while loop and a conditional within each other."""
    return '''HloModule nested

fused {
  a = f32[8,128] parameter(0)
  b = f32[8,128] parameter(1)
  m = f32[8,128] multiply(a, b), metadata={op_name="jit(f)/while/body/mul"}
  ROOT t = f32[8,128] tanh(m), metadata={op_name="jit(f)/while/body/tanh"}
}

''' + REDUCER + '''body {
  s = (s32[], f32[8,128]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[8,128] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  f = f32[8,128] fusion(v, v), kind=kLoop, calls=fused
  ROOT r = (s32[], f32[8,128]) tuple(next, f)
}

cond {
  s = (s32[], f32[8,128]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT go = pred[] compare(i, n), direction=LT
}

yes {
  v = f32[8,128] parameter(0)
  ROOT e = f32[8,128] exponential(v)
}

no {
  v = f32[8,128] parameter(0)
  ROOT e = f32[8,128] negate(v)
}

ENTRY main {
  x = f32[8,128] parameter(0)
  flag = pred[] parameter(1)
  zero = s32[] constant(0)
  start = (s32[], f32[8,128]) tuple(zero, x)
  loop = (s32[], f32[8,128]) while(start), condition=cond, body=body, metadata={op_name="jit(f)/while"}
  value = f32[8,128] get-tuple-element(loop), index=1
  either = f32[8,128] conditional(flag, value, value), true_computation=yes, false_computation=no, metadata={op_name="jit(f)/cond"}
  fz = f32[] constant(0)
  ROOT total = f32[8] reduce(either, fz), dimensions={1}, to_apply=add, metadata={op_name="jit(f)/reduce_sum"}
}
'''


def hostile(count):
    """Texts that would break out of HTML, scripts, style sheets, DOT or regular expressions."""
    bad = ['</script><script>alert(1)</script>', '<img src=x onerror=alert(1)>', '\\"]; n0 -> n1 [label=\\"pwned',
           '${alert(1)}', '`${alert(1)}`', "'+alert(1)+'", 'javascript:alert(1)', '&lt;b&gt;&amp;', '<!--', ']]>',
           '__proto__/constructor/toString', '\\u2028\\u2029', '\u202eright to left\u202c', '\u00e9\u4e16\u754c\U0001f600',
           'a//b///c', '/', '', ' ', 'x' * 10240, '/'.join('d' * 3 for _ in range(300)), '.*+?^()[]{}|\\\\', '%00%2F#main::p',
           'url(https://example.com/x.png)', '@import \'https://example.com\';', '</style><link rel=stylesheet href=//example.com>']
    lines = ['  p = f32[16] parameter(0)']
    names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'length', 'prototype', 'then', 'undefined', 'null', 'NaN']
    before = 'p'
    for i, text in enumerate(bad):
        name = names[i] if i < len(names) else f'n.{i}'
        root = 'ROOT ' if i == len(bad) - 1 else ''
        lines.append(f'  {root}{name} = f32[16] negate({before}), metadata={{op_name="{text}" source_file="{text[:300]}" source_line={i + 1}}}')
        before = name
    return 'HloModule hostile\n\nENTRY main {\n' + '\n'.join(lines) + '\n}\n'


KINDS = {f.__name__: f for f in (chain, wide, deep, transformer, nested, hostile)}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in KINDS:
        sys.exit(__doc__.strip() + '\nkinds: ' + ' '.join(KINDS))
    text = KINDS[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 100)
    if len(sys.argv) > 3:
        with open(sys.argv[3], 'w', encoding='utf-8') as f:
            f.write(text)
    else:
        sys.stdout.write(text)


if __name__ == '__main__':
    main()
