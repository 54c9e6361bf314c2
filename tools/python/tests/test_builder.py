"""The builder."""
import inspect
import unittest

import hlo_toolkit as hlo
from hlo_toolkit import ops


def scalar_add():
    builder = hlo.Builder("add")
    return builder.build(ops.add(builder.parameter(0, "f32[]", "a"), builder.parameter(1, "f32[]", "b")))


class Building(unittest.TestCase):
    def test_operators(self):
        builder = hlo.Builder("f")
        x = builder.parameter(0, "f32[3]", "x")
        y = builder.parameter(1, hlo.Shape("f32", [3]), "y")
        made = builder.build(abs(2 * x + y - 1) / 0.5)
        self.assertEqual(hlo.run(made, [1, 2, 3], [-10, 0, 1]).tolist(), [18, 6, 12])
        self.assertEqual(str(made.program_shape), "(x: f32[3], y: f32[3]) -> f32[3]")

    def test_operators_of_integers(self):
        builder = hlo.Builder("f")
        x, y = builder.parameter(0, "s32[2]", "x"), builder.parameter(1, "u32[2]", "y")
        made = builder.build(builder.tuple([x >> 1, y >> 1, 1 << x, 64 >> x, x % 3]))
        results = hlo.run(made, [-7, 5], [2**32 - 7, 5])
        self.assertEqual([result.tolist() for result in results],
                         [[-4, 2], [2**31 - 4, 2], [0, 32], [0, 2], [-1, 2]])

    def test_values_are_not_decided(self):
        builder = hlo.Builder("f")
        x = builder.parameter(0, "f32[]", "x")
        with self.assertRaisesRegex(TypeError, "neither true nor false"):
            if x > 1:
                pass

    def test_operators_with_arrays(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        builder = hlo.Builder("f")
        x = builder.parameter(0, "f32[2]", "x")
        made = numpy.float32([1, 2]) * x + numpy.int64(3) - hlo.Array([1, 1], "f32[2]")
        self.assertEqual(hlo.run(builder.build(made), [1, 10]).tolist(), [3, 22])
        with self.assertRaisesRegex(hlo.InvalidArgument, "f64"):
            builder.parameter(0, "f32[2]", "x") + numpy.ones(2)

    def test_functions(self):
        builder = hlo.Builder("f")
        x = builder.parameter(0, "f32[2,3]", "x")
        total = ops.reduce(x, builder.constant(0, "f32[]"), scalar_add(), [1])
        module = builder.build(builder.tuple([total, ops.transpose(x, [1, 0]), ops.pad(x, builder.constant(9, "f32[]"), [(0, 1), (1, 0)])]))
        a, b, c = hlo.run(module, [[1, 2, 3], [4, 5, 6]])
        self.assertEqual(a.tolist(), [6, 15])
        self.assertEqual(b.tolist(), [[1, 4], [2, 5], [3, 6]])
        self.assertEqual(c.tolist(), [[9, 1, 2, 3], [9, 4, 5, 6], [9, 9, 9, 9]])

    def test_dimension_numbers(self):
        builder = hlo.Builder("f")
        x, w = builder.parameter(0, "f32[2,2,3]", "x"), builder.parameter(1, "f32[2,3,2]", "w")
        numbers = hlo.DotDimensionNumbers(lhs_contracting_dimensions=[2], rhs_contracting_dimensions=[1],
                                          lhs_batch_dimensions=[0], rhs_batch_dimensions=[0])
        dot = ops.dot_general(x, w, numbers, precision=["highest", "highest"], preferred_element_type="f64")
        self.assertEqual(str(dot.shape), "f64[2,2,2]")
        image, kernel = builder.parameter(2, "f32[1,1,4,4]", "i"), builder.parameter(3, "f32[1,1,3,3]", "k")
        self.assertEqual(str(ops.conv(image, kernel, [1, 1], "same").shape), "f32[1,1,4,4]")
        self.assertEqual(str(ops.fft(builder.parameter(4, "f32[8]", "f"), "rfft", [8]).shape), "c64[5]")
        with self.assertRaises(TypeError):
            ops.conv(image, kernel, [1, 1], "sideways")

    def test_control_flow(self):
        condition, body = hlo.Builder("condition"), hlo.Builder("body")
        limit = condition.build(condition.parameter(0, "s32[]", "i") < 10)
        step = body.build(body.parameter(0, "s32[]", "i") + 3)
        builder = hlo.Builder("loop")
        self.assertEqual(hlo.run(builder.build(ops.while_(limit, step, builder.parameter(0, "s32[]", "i"))), 1).item(), 10)

    def test_errors_have_the_line_of_the_call(self):
        builder = hlo.Builder("f")
        x = builder.parameter(0, "f32[3]", "x")
        line = inspect.currentframe().f_lineno + 2
        with self.assertRaisesRegex(hlo.InvalidArgument, rf"test_builder\.py:{line}: .*4"):
            ops.reshape(x, [4])
        with self.assertRaisesRegex(hlo.InvalidArgument, rf"test_builder\.py:{line}: "):
            builder.build()

    def test_wrong_use(self):
        builder = hlo.Builder("f")
        x = builder.parameter(0, "f32[3]", "x")
        module = builder.build(x)
        with self.assertRaisesRegex(hlo.InvalidArgument, "before the last Build"):
            ops.neg(x)
        other = hlo.Builder("g")
        y, z = other.parameter(0, "f32[3]", "y"), hlo.Builder("h").parameter(0, "f32[3]", "z")
        with self.assertRaisesRegex(hlo.InvalidArgument, "builder"):
            ops.add(y, z)
        with self.assertRaises(hlo.InvalidArgument):
            ops.scatter([], y, [], module, hlo.ScatterDimensionNumbers())
        with self.assertRaises(TypeError):
            ops.add(y, 1)
        with self.assertRaises(TypeError):
            ops.reshape(y, ["a"])
        with self.assertRaises(hlo.FailedPrecondition):
            hlo.Builder("empty").build()

    def test_operations_keep_their_builder(self):
        op = hlo.Builder("f").parameter(0, "f32[3]", "x")
        self.assertEqual(str((op + op).shape), "f32[3]")

    def test_constants(self):
        builder = hlo.Builder("f")
        x = builder.constant([1, 2], "f32[2]")
        self.assertTrue(builder.is_constant(x + 1))
        self.assertEqual(builder.compute_constant(x + 1).tolist(), [2, 3])
        p = builder.parameter(0, "f32[2]", "p")
        self.assertFalse(builder.is_constant(p))
        with self.assertRaises(hlo.InvalidArgument):
            builder.compute_constant(p)

    def test_scopes(self):
        builder = hlo.Builder("f")
        builder.set_op_metadata(op_name="layer/x", source_file="model.py", source_line=3)
        builder.set_sharding("{replicated}")
        builder.set_frontend_attributes({"key": "value"})
        text = builder.build(builder.parameter(0, "f32[3]", "x")).text()
        for part in ('op_name="layer/x"', "sharding={replicated}", 'key="value"'):
            self.assertIn(part, text)
        with self.assertRaises(hlo.InvalidArgument):
            builder.set_sharding("{no sharding")

    def test_everything_is_described(self):
        for owner in (ops, hlo):
            for name in dir(owner):
                thing = getattr(owner, name)
                if name.startswith("_") or inspect.ismodule(thing):
                    continue
                self.assertGreater(len((thing.__doc__ or "").split()), 2, name)
        self.assertGreater(len([name for name in dir(ops) if not name.startswith("_")]), 140)


class Training(unittest.TestCase):
    def test_line(self):
        """y = 2 x + 1 from points, by steps against the gradient."""
        builder = hlo.Builder("step")
        w, b, x, y = (builder.parameter(i, shape, name) for i, (name, shape) in
                      enumerate((("w", "f32[]"), ("b", "f32[]"), ("x", "f32[8]"), ("y", "f32[8]"))))
        error = ops.mul(w, x) + b - y
        zero, add = builder.constant(0, "f32[]"), scalar_add()
        dw, db = (ops.reduce(value, zero, add, [0]) / 8 for value in (error * x, error))
        step = hlo.compile(builder.build(builder.tuple([w - dw * 0.1, b - db * 0.1])))
        xs = hlo.Array([i / 4 for i in range(8)], "f32[8]")
        ys = hlo.Array([i / 2 + 1 for i in range(8)], "f32[8]")
        weight, bias = 0, 0
        for _ in range(500):
            weight, bias = step(weight, bias, xs, ys)
        self.assertAlmostEqual(weight.item(), 2, places=3)
        self.assertAlmostEqual(bias.item(), 1, places=3)


if __name__ == "__main__":
    unittest.main()
