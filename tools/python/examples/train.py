"""Fits a line to points: a training step of JAX-like code built by hand, compiled once and run 500 times.

Weights stay on the device between steps; each step gives its memory back for the next one's results.
"""
import hlo_toolkit as hlo
from hlo_toolkit import ops


def scalar_add():
    """The computation that sums are reduced by."""
    builder = hlo.Builder("add")
    return builder.build(builder.parameter(0, "f32[]", "a") + builder.parameter(1, "f32[]", "b"))


def training_step(rate):
    """(w, b, x, y) -> (w, b, loss) of y = w x + b, after a step against the gradient of the mean squared error."""
    builder = hlo.Builder("step")
    w, b = builder.parameter(0, "f32[]", "w"), builder.parameter(1, "f32[]", "b")
    x, y = builder.parameter(2, "f32[8]", "x"), builder.parameter(3, "f32[8]", "y")
    error = w * x + b - y
    zero, add = builder.constant(0, "f32[]"), scalar_add()
    loss, dw, db = (ops.reduce(value, zero, add, [0]) / 8 for value in (error * error, error * x, error))
    return builder.build(builder.tuple([w - dw * rate, b - db * rate, loss]))


def main():
    client = hlo.Client("cpu")
    step = client.compile(training_step(0.2))
    xs = [i / 4 for i in range(8)]
    x, y = client.to_device(xs, "f32[8]"), client.to_device([2 * value + 1 for value in xs], "f32[8]")
    w, b = client.to_device(0, "f32[]"), client.to_device(0, "f32[]")
    for _ in range(500):
        w, b, loss = step.execute([w, b, x, y], donated=[0, 1])
    w, b, loss = (value.to_host().item() for value in (w, b, loss))
    print(f"y = {w:.3f} x + {b:.3f}, loss {loss:.6f}")


if __name__ == "__main__":
    main()
