"""XLA's GPU compiler on a machine without a GPU: xla_plan_worker.py TARGET.txt, one of backends/gpu/target/targets.

Each line of the input names a module and where its optimised text goes; for each a line of JSON: {"compile": seconds, "bytes":
of arguments, results and temporary arrays, arrays that must share memory once} or {"error"}. Needs a Python with jax and
its CUDA plugin, and CUDA's programs (XLA_FLAGS=--xla_gpu_cuda_data_dir=…).
"""
import contextlib, importlib, json, logging, os, sys, time
os.environ.setdefault('JAX_ENABLE_X64', '1')
os.environ['JAX_PLATFORMS'] = 'cpu'  # that of the values; nothing is run
PLUGINS = ('jax_plugins.xla_cuda13', 'jax_plugins.xla_cuda12')
CARD = '''gpu_device_info {{
  threads_per_block_limit: {threads_per_block} threads_per_warp: {warp} shared_memory_per_block: {static_shared_memory}
  shared_memory_per_core: {shared_memory_per_multiprocessor} threads_per_core_limit: {threads_per_multiprocessor}
  core_count: {multiprocessors} fpus_per_core: {f32_per_clock} block_dim_limit_x: 2147483647 block_dim_limit_y: 65535
  block_dim_limit_z: 65535 memory_bandwidth: {memory_bandwidth} l2_cache_size: {l2_bytes} clock_rate_ghz: {clock_ghz}
  device_memory_size: {memory_bytes} shared_memory_per_block_optin: {shared_memory_per_block}
  cuda_compute_capability {{ major: {major} minor: {minor} }} registers_per_core_limit: {registers_per_multiprocessor}
  registers_per_block_limit: {registers_per_multiprocessor}
}}
platform_name: "CUDA" dnn_version_info {{ major: 9 minor: 10 }} device_description_str: "NVIDIA {name}"
'''

def card_of(path):
    with open(path, encoding='utf-8') as file:
        values = dict(line.split(' = ') for line in file.read().splitlines() if ' = ' in line)
    number = values['arch'].removeprefix('sm_').rstrip('af')
    return CARD.format(**values, major=number[:-1], minor=number[-1], clock_ghz=int(values['clock_hz']) / 1e9)

def load_plugin(xla_client):
    for name in PLUGINS:
        with contextlib.suppress(ImportError):
            folder = os.path.dirname(importlib.import_module(name).__file__)
            # JAX may have done both already.
            with contextlib.suppress(Exception): xla_client.load_pjrt_plugin_dynamically('cuda', os.path.join(folder, 'xla_cuda_plugin.so'))
            with contextlib.suppress(Exception): xla_client.initialize_pjrt_plugin('cuda')
            return
    sys.exit('no CUDA plugin of JAX')

def main():
    logging.disable(logging.ERROR)
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir
    from jaxlib import _hlo, _jax
    load_plugin(xla_client)
    topology = _jax.get_default_c_api_topology('cuda', '', {'target_config': card_of(sys.argv[1]), 'topology': '1x1x1'})
    device = topology._make_compile_only_devices()[0]
    for line in sys.stdin:
        path, out = line.split()
        try:
            with open(path, encoding='utf-8') as file: proto = _hlo.hlo_module_from_text(file.read()).as_serialized_hlo_module_proto()
            with mlir.make_ir_context(): program = ir.Module.parse(_jax.mlir.hlo_to_stablehlo(proto))
            begin = time.perf_counter()
            executable = device.client.compile(program, xla_client.DeviceList((device,)), xla_client.CompileOptions())
            seconds = time.perf_counter() - begin
            memory = executable.get_compiled_memory_stats()
            with open(out, 'w', encoding='utf-8') as file: file.write(executable.hlo_modules()[0].to_string())
            answer = {'compile': round(seconds, 3), 'bytes': memory.argument_size_in_bytes + memory.output_size_in_bytes
                      - memory.alias_size_in_bytes + memory.temp_size_in_bytes}
        except Exception as e: answer = {'error': str(e).split('\n')[0][:200]}
        print(json.dumps(answer), flush=True)

if __name__ == '__main__': main()
