"""What a call of a compiled scalar program costs from Python; the best of some measurements, as bench_calls prints it."""
import time

import hlo_toolkit as hlo

CALLS = 20000


def best(what, call):
    least = min(_seconds(call) for _ in range(10))
    print(f"{what:<36} {least * 1e9 / CALLS:8.0f} ns")


def _seconds(call):
    begin = time.perf_counter()
    for _ in range(CALLS):
        call()
    return time.perf_counter() - begin


def main():
    program = hlo.compile(hlo.Module("HloModule scalar\nENTRY e { x = f32[] parameter(0)  ROOT r = f32[] add(x, x) }"))
    array = hlo.Array(1.0, "f32[]")
    best("Python, Array", lambda: program(array))
    best("Python, number", lambda: program(1.0))
    try:
        import numpy
    except ImportError:
        return
    numbers = numpy.ones((), numpy.float32)
    best("Python, NumPy", lambda: program(numbers))


main()
