"""Modules without running them."""
import os
import pickle
import tempfile
import unittest

import hlo_toolkit as hlo

TEXT = """HloModule small
ENTRY main {
  x = f32[2,3] parameter(0)
  zero = f32[] constant(0)
  zeros = f32[2,3] broadcast(zero), dimensions={}
  ROOT sum = f32[2,3] add(x, zeros)
}
"""


class Modules(unittest.TestCase):
    def test_text(self):
        module = hlo.Module(TEXT)
        self.assertEqual((module.name, repr(module)), ("small", "Module('small')"))
        self.assertEqual(str(module.program_shape), "(x: f32[2,3]) -> f32[2,3]")
        self.assertEqual(hlo.Module(module.text()).text(), module.text())
        self.assertEqual(pickle.loads(pickle.dumps(module)).text(), module.text())
        module.verify()

    def test_errors_point_into_the_text(self):
        with self.assertRaisesRegex(hlo.InvalidArgument, r"^bad\.hlo:6:.*f32\[2,3\]"):
            hlo.Module(TEXT.replace("sum = f32[2,3]", "sum = f32[3,2]"), "bad.hlo")
        for wrong in ("", "HloModule", "\0", "{" * 100000):
            with self.assertRaises(ValueError):
                hlo.Module(wrong)

    def test_bytes(self):
        module = hlo.Module(TEXT)
        for data in (TEXT.encode(), module.to_proto()):
            self.assertEqual(hlo.Module.from_bytes(data).program_shape.result, hlo.Shape("f32[2,3]"))
        for wrong in (b"", b"\x08\x96\x01", b"\x1f\x8b\x08\0", b"\xff" * 100):
            with self.assertRaises(hlo.InvalidArgument):
                hlo.Module.from_bytes(wrong, "wrong.pb")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "small.hlo")
            with open(path, "w") as file:
                file.write(TEXT)
            self.assertEqual(hlo.load(path).text(), module.text())
            with self.assertRaises(OSError):
                hlo.load(path + ".none")

    def test_passes(self):
        seen = []
        module = hlo.Module(TEXT)
        better = module.run_passes("algsimp,dce", after_pass=lambda event: seen.append((event.name, event.rewrites > 0,
                                                                                      "HloModule" in event.text())))
        self.assertEqual(seen, [("algsimp", True, True), ("dce", False, True)])
        self.assertNotIn("add(", better.text())
        self.assertIn("add(", module.text())
        with self.assertRaises(hlo.Cancelled):
            module.run_passes("@simplify", after_pass=lambda event: False)
        with self.assertRaises(ZeroDivisionError):
            module.run_passes("@simplify", after_pass=lambda event: 1 / 0)
        with self.assertRaisesRegex(hlo.InvalidArgument, "no-such-pass"):
            module.run_passes("no-such-pass")
        self.assertIn("@simplify", hlo.pass_names())

    def test_diff(self):
        module = hlo.Module(TEXT)
        self.assertFalse(hlo.diff(module, module))
        found = module.diff(module.run_passes("algsimp,dce"), "summary")
        self.assertTrue(found and not found.equal and found.removed > 0)
        self.assertIn("<pre>", found._repr_html_())
        with self.assertRaises(hlo.InvalidArgument):
            module.diff(module, "no-format")

    def test_drawings(self):
        module = hlo.Module(TEXT)
        self.assertTrue(module.draw("dot").startswith(b"digraph"))
        self.assertIn(b"<html", module.draw("html"))
        self.assertRegex(module._repr_html_(), "^<(svg|iframe)")
        with self.assertRaises(hlo.InvalidArgument):
            module.draw("bmp")

    def test_compare(self):
        a, b = hlo.Array([1, 2], "f32[2]"), hlo.Array([1, 2.5], "f32[2]")
        self.assertFalse(hlo.compare(a, b))
        self.assertTrue(hlo.compare(a, b, abs=0.5))
        self.assertTrue(hlo.compare(a, [1, 2]))
        found = hlo.compare(a, b)
        self.assertEqual((found.mismatches, found.elements, found.max_abs), (1, 2, 0.5))
        with self.assertRaises(hlo.InvalidArgument):
            hlo.compare(a, hlo.Array([1], "f32[1]"))

    def test_errors_are_pythons_too(self):
        for error, also in ((hlo.InvalidArgument, ValueError), (hlo.DeadlineExceeded, TimeoutError),
                            (hlo.ResourceExhausted, MemoryError), (hlo.Unimplemented, NotImplementedError)):
            self.assertTrue(issubclass(error, also) and issubclass(error, hlo.HloError))


class Jax(unittest.TestCase):
    def test_lowered(self):
        try:
            import jax
        except ImportError:
            self.skipTest("JAX is not installed")
        import numpy

        def f(x, y):
            return jax.numpy.tanh(x @ y).sum(axis=0)

        x, y = numpy.ones((2, 3), numpy.float32), numpy.full((3, 4), 0.25, numpy.float32)
        for module in (hlo.from_jax(f, x, y), hlo.from_jax(jax.jit(f), x, y), hlo.from_jax(jax.jit(f).lower(x, y))):
            result = hlo.run(module, x, jax.numpy.asarray(y))
            numpy.testing.assert_allclose(numpy.asarray(result), f(x, y), rtol=1e-6)
        half = jax.numpy.ones(3, jax.numpy.bfloat16)
        self.assertEqual(hlo.run(hlo.from_jax(lambda x: x + x, half), half).tolist(), [2, 2, 2])
        with self.assertRaises(TypeError):
            hlo.from_jax(3)


if __name__ == "__main__":
    unittest.main()
