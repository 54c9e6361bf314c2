#!/usr/bin/env python3
"""Holds every #include against the allowed edges between folders and the rooms of libraries, and finds include
cycles between files.

Prints one line per violation and exits 1 if there is any.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Layer -> the layers it may include besides itself. A layer is a folder without its subfolders, but for
#   ir/types    the files ir/types.*: element types lie below the numeric formats
#   passes/option  the files passes/pass_option.*: options as tables, below the rules that have some
#   passes/pass    passes/pass.h: what a pass is; families of passes know no more of passes/
#   ir/verify   the files ir/verify*.* and ir/builder.*: they stand above the shape rules
BASE = ['ir/support', 'ir/types', 'ir/numeric']
LAYERS = {
    'ir/support': [],
    'ir/types': ['ir/support'],
    'ir/numeric': ['ir/support', 'ir/types'],
    'ir': BASE,
    'ir/infer': [*BASE, 'ir'],
    'ir/verify': [*BASE, 'ir', 'ir/infer'],
    'ir/eval': [*BASE, 'ir', 'ir/infer'],
    'parser': [*BASE, 'ir', 'ir/infer'],
    'backends': [*BASE, 'ir', 'ir/infer', 'ir/verify', 'ir/eval'],
    'backends/processes': [*BASE, 'ir', 'ir/infer', 'ir/eval', 'backends'],
    'backends/processes/plugin': ['backends/processes'],
    'backends/interpreter': [*BASE, 'ir', 'ir/infer', 'ir/verify', 'ir/eval', 'backends'],
    'passes/analysis': [*BASE, 'ir', 'ir/infer', 'ir/eval'],
    'passes/option': ['ir/support'],
    'passes/rewrite': [*BASE, 'ir', 'passes/analysis', 'ir/infer', 'ir/verify', 'ir/eval'],
    'passes/rules': [*BASE, 'ir', 'passes/option', 'passes/analysis', 'passes/rewrite', 'ir/infer', 'ir/verify', 'ir/eval'],
    'passes/pass': [*BASE, 'ir', 'passes/option', 'passes/rewrite'],
    'passes': [*BASE, 'ir', 'passes/option', 'passes/pass', 'passes/analysis', 'passes/rewrite', 'passes/rules', 'ir/infer', 'ir/verify', 'ir/eval'],
    'backends/kernel': [*BASE, 'ir', 'ir/infer', 'ir/eval'],
    'backends/products/common': [*BASE, 'ir', 'ir/eval'],
    'backends/products/dot': [*BASE, 'ir', 'ir/eval', 'backends/products/common'],
    'backends/products/conv': [*BASE, 'ir', 'ir/eval', 'backends/products/common', 'backends/products/dot'],
    'backends/products': [*BASE, 'ir', 'ir/eval', 'backends/products/common', 'backends/products/dot', 'backends/products/conv'],
    'backends/structured': [*BASE, 'ir', 'ir/eval', 'backends/products/common'],
    'backends/llvm': [*BASE, 'ir', 'backends/kernel'],
    'backends/tile': [*BASE, 'ir', 'ir/eval', 'backends/kernel', 'backends/llvm'],
    'backends/compile': [*BASE, 'ir', 'ir/infer', 'ir/verify', 'ir/eval', 'passes/option', 'passes/analysis', 'passes/rewrite', 'passes/rules', 'passes/pass', 'passes', 'backends/kernel', 'backends'],
    'backends/gpu/ptx': ['ir/support'],
    'backends/gpu/driver': ['ir/support'],
    'backends/gpu/toolkit': ['ir/support'],
    'backends/gpu/emulator': ['ir/support', 'backends/llvm', 'backends/gpu/ptx', 'backends/gpu/driver'],
    'backends/cpu': [*BASE, 'backends/compile', 'backends/kernel', 'backends/llvm', 'backends/tile', 'backends/products', 'backends/products/common', 'backends/products/dot', 'backends/products/conv', 'backends/structured', 'ir', 'ir/infer', 'ir/verify', 'ir/eval', 'passes/option', 'passes/analysis', 'passes/rewrite', 'passes/rules', 'passes/pass', 'passes', 'backends'],
}
LAYERS['backends/cpu/runtime'] = [*LAYERS['backends/cpu'], 'backends/cpu']
LAYERS['backends/cpu/runtime/llvm'] = []
LAYERS['backends/gpu/target'] = [*LAYERS['backends/compile'], 'backends/compile']
LAYERS['backends/gpu/passes'] = LAYERS['backends/gpu/target']
LAYERS['backends/gpu/codegen'] = [*LAYERS['backends/gpu/target'], 'backends/gpu/target', 'backends/llvm']
LAYERS['backends/gpu/compile'] = [*LAYERS['backends/gpu/codegen'], 'backends/gpu/codegen', 'backends/gpu/passes', 'backends/gpu/toolkit', 'backends']
LAYERS['backends/gpu/libraries'] = [*BASE, 'ir', 'ir/infer', 'ir/eval', 'passes/analysis', 'backends/gpu/toolkit']
LAYERS['backends/gpu/runtime'] = [*LAYERS['backends/gpu/compile'], 'backends/gpu/compile', 'backends/gpu/driver', 'backends/gpu/emulator', 'backends/gpu/libraries']
LAYERS['backends/client'] = [*LAYERS['backends/cpu'], 'backends/cpu', 'backends/interpreter', 'backends/gpu/target', 'backends/gpu/passes', 'backends/gpu/compile', 'backends/gpu/runtime']
# Families of passes stand side by side: what several need is in passes/analysis and passes/rewrite.
FAMILY = [*BASE, 'ir', 'ir/infer', 'ir/verify', 'ir/eval', 'passes/option', 'passes/pass', 'passes/analysis', 'passes/rewrite']
for family in ('collectives', 'control', 'dynamic', 'expand', 'fusion', 'layout', 'loops', 'memory', 'products', 'reductions', 'simplify', 'types'):
    LAYERS[f'passes/{family}'] = FAMILY
LAYERS['passes/simplify'] = [*FAMILY, 'passes/rules']  # algsimp applies them
# Everything below the tools.
TOOL_BASE = [*LAYERS['backends/client'], 'parser', 'backends/client', 'backends/processes']
LAYERS |= {
    'tools/viz/drawing': [*BASE, 'ir'],
    'tools/viz/index': ['ir/support', 'tools/viz/drawing'],
    'tools/diff/compare': [*BASE, 'ir', 'tools/viz/drawing'],
    'tools/proto': [*BASE, 'ir'],
    'tools/common': [*TOOL_BASE, 'tools/viz/drawing'],
    'tools/arrays': [*TOOL_BASE, 'tools/common'],
    'tools/modules': [*TOOL_BASE, 'tools/common', 'tools/arrays', 'tools/proto'],
    'tools/reduce': [*TOOL_BASE, 'tools/common', 'tools/arrays', 'tools/modules'],
    'tools/viz': [*TOOL_BASE, 'tools/common', 'tools/modules', 'tools/viz/drawing', 'tools/viz/index', 'tools/diff/compare'],
    'tools/opt': [*TOOL_BASE, 'tools/common', 'tools/arrays', 'tools/modules', 'tools/reduce', 'tools/proto', 'tools/viz', 'tools/viz/drawing'],
    'tools/run': [*TOOL_BASE, 'tools/common', 'tools/arrays', 'tools/modules', 'tools/proto', 'tools/reduce', 'tools/opt'],
    'tools/diff': [*TOOL_BASE, 'tools/common', 'tools/modules', 'tools/opt', 'tools/run', 'tools/diff/compare'],
}
LAYERS['tools/library'] = ['tools/library/documents', *TOOL_BASE, 'tools/common', 'tools/arrays', 'tools/modules', 'tools/proto', 'tools/run', 'tools/viz/drawing', 'tools/diff/compare']
LAYERS['tools/library/include/hlo'] = []
LAYERS['tools/library/documents'] = []
LAYERS['tools/library/examples'] = []
LAYERS['tools/library/examples/embedding'] = []
# On the installed library, as programs are.
LAYERS['tools/python'] = []
LAYERS['tools/library/examples/ahead_of_time'] = []
LAYERS['tools'] = [*TOOL_BASE, *(layer for layer in LAYERS if layer.startswith('tools/'))]
LAYERS['tools/testing'] = [*TOOL_BASE, 'backends/gpu/codegen', 'backends/gpu/ptx', 'backends/gpu/emulator', *(layer for layer in LAYERS if layer.startswith('tools/'))]
# Tests of any layer may parse and verify text.
TEST_EXTRA = ['parser', 'ir/verify']
TEST = re.compile(r'(_(test|fuzz)\.cc|/test_\w+\.h)$')
# What programs see of the library needs nothing but the standard library.
PUBLIC = re.compile(r'tools/library/(include|documents|examples)/')
PUBLIC_INCLUDE = re.compile(r'hlo/\w+\.(h|def)$|[a-z_]+$|(programs|functions)\.h$|std(def|int|io|lib)\.h$')
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
# Headers of libraries -> the files that may include them.
ROOMS = {
    re.compile(r'CLI/'): {'tools/common/option_parser.cc'},
    re.compile(r'nlohmann/'): {'ir/support/json_reader.cc', 'ir/support/json_writer.cc'},
    re.compile(r'llvm/Support/JSON\.h$'): set(),  # ir/support/json.h stands for it
}


def layer_of(path):
    if re.match(r'ir/types\.', path):
        return 'ir/types'
    if re.match(r'passes/pass_option\.', path):
        return 'passes/option'
    if path == 'passes/pass.h':
        return 'passes/pass'
    if re.match(r'ir/(verify\w*|builder)\.', path):
        return 'ir/verify'
    if re.match(r'ir/(verify\w*|builder)\.cc$', path) or re.match(r'ir/verify_\w+\.h$', path):
        return 'ir/verify'
    return os.path.dirname(path)


def sources():
    for top in sorted({layer.split('/')[0] for layer in LAYERS}):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in sorted(names):
                if name.endswith(('.h', '.cc', '.def', '.inc')):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def includes_of(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return [(i, re.match(INCLUDE, line).group(1)) for i, line in enumerate(f, 1) if re.match(INCLUDE, line)]


def find_cycle(graph):
    """Some cycle of files, or None; depth first without recursion."""
    state = {}
    for start in graph:
        if start in state:
            continue
        path, stack = [], [(start, iter(graph[start]))]
        state[start] = 'open'
        path.append(start)
        while stack:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[node] = 'done'
                stack.pop()
                path.pop()
            elif state.get(following) == 'open':
                return path[path.index(following):] + [following]
            elif following not in state:
                state[following] = 'open'
                path.append(following)
                stack.append((following, iter(graph.get(following, ()))))
    return None


def main():
    problems, graph = [], {}
    for path in sources():
        layer = layer_of(path)
        if layer not in LAYERS:
            problems.append(f'{path}: folder {layer} has no row in scripts/check_layers.py')
            continue
        allowed = {layer, *LAYERS[layer], *(TEST_EXTRA if TEST.search(path) else [])}
        graph[path] = []
        for line, target in includes_of(path):
            if PUBLIC.match(path) and not PUBLIC_INCLUDE.match(target):
                problems.append(f'{path}:{line}: what is public must not include {target}')
            for room, members in ROOMS.items():
                if room.match(target) and path not in members:
                    who = f'only {" and ".join(sorted(members))}' if members else 'no file'
                    problems.append(f'{path}:{line}: {who} may include {target}')
            if not os.path.exists(os.path.join(ROOT, target)):
                continue  # a library's header
            graph[path].append(target)
            if layer_of(target) not in allowed:
                problems.append(f'{path}:{line}: {layer} must not include {target} ({layer_of(target)})')
    cycle = find_cycle(graph)
    if cycle:
        problems.append('include cycle: ' + ' -> '.join(cycle))
    for problem in problems:
        print(problem)
    print(f'{len(graph)} files, {len(problems)} layer violations')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
