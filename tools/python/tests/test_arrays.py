"""Values in and out."""
import copy
import ctypes
import pickle
import unittest

import hlo_toolkit as hlo

try:
    import numpy
except ImportError:
    numpy = None
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

NUMPY_TYPES = {
    "pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16",
    "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64",
    "c128": "complex128"}
ML_TYPES = {
    "bf16": "bfloat16", "s2": "int2", "s4": "int4", "u2": "uint2", "u4": "uint4", "f4e2m1fn": "float4_e2m1fn",
    "f6e2m3fn": "float6_e2m3fn", "f6e3m2fn": "float6_e3m2fn", "f8e3m4": "float8_e3m4", "f8e4m3": "float8_e4m3",
    "f8e4m3b11fnuz": "float8_e4m3b11fnuz", "f8e4m3fn": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2": "float8_e5m2", "f8e5m2fnuz": "float8_e5m2fnuz", "f8e8m0fnu": "float8_e8m0fnu"}


def identity(shape):
    builder = hlo.Builder("identity")
    return hlo.compile(builder.build(builder.parameter(0, shape, "x")))


class Arrays(unittest.TestCase):
    def test_lists_and_numbers(self):
        self.assertEqual(hlo.Array([[1, 2], [3, 4]], "f32[2,2]").tolist(), [[1.0, 2.0], [3.0, 4.0]])
        self.assertEqual(hlo.Array(True, "pred[]").item(), True)
        self.assertEqual(hlo.Array(1.5 - 2j, "c64[]").item(), 1.5 - 2j)
        self.assertEqual(hlo.Array([1, 2.5, True, 3j], "c128[4]").tolist(), [1, 2.5, 1, 3j])
        self.assertEqual(hlo.Array([1.0, float("inf")], "bf16[2]").tolist(), [1.0, float("inf")])
        self.assertEqual(hlo.Array([-8, 7], "s4[2]").tolist(), [-8, 7])
        self.assertEqual(float(hlo.Array(2, "f32[]")), 2.0)
        self.assertEqual(len(hlo.Array([1, 2, 3], "s32[3]")), 3)
        self.assertEqual(repr(hlo.Array([1, 2], "s32[2]")), "Array(s32[2] {1, 2})")
        self.assertEqual(repr(hlo.Array(memoryview(bytes(5000)))), "Array(u8[5000])")

    def test_what_is_no_array(self):
        for value, shape, message in (
                ([1, 2], None, "of no known type"), ([1, 2], "f32[3]", "no f32"), ([1, [2]], "f32[2]", "no f32"),
                ("text", "f32[]", "a str is no array"), (object(), None, "a object is no array"),
                (300, "u8[]", "no u8"), (memoryview(b"abc"), "f32[3]", "the value is u8")):
            with self.assertRaisesRegex(hlo.InvalidArgument, message):
                hlo.Array(value, shape)
        deep = []
        for _ in range(100):
            deep = [deep]
        with self.assertRaisesRegex(ValueError, "more than 64 levels"):
            hlo.Array(deep, "f32[]")

    def test_large_integers(self):
        most = 2**63
        self.assertEqual(hlo.Array([most - 1, -most], "s64[2]").tolist(), [most - 1, -most])
        self.assertEqual(hlo.Array(2 * most - 1, "u64[]").item(), 2 * most - 1)
        for shape in ("f32[]", "f64[]", "c64[]"):
            self.assertEqual(hlo.Array(most, shape).item(), 2.0**63)
            self.assertEqual(hlo.Array(-4 * most, shape).item(), -(2.0**65))
        for value, shape in ((most, "s64[]"), (-most - 1, "s64[]"), (-1, "u64[]"), (2 * most, "u64[]"), (-1, "u8[]"),
                             (10**400, "f32[]"), (most, "pred[]")):
            with self.assertRaisesRegex(hlo.InvalidArgument, shape[:-2]):
                hlo.Array(value, shape)

    def test_copies(self):
        for value in (hlo.Array([1, 2], "s32[2]"), hlo.Array([1.5], "bf16[1]"), hlo.Array(True, "pred[]"),
                      hlo.Array([-8, 7], "s4[2]")):
            for again in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
                self.assertEqual((str(again), again.dtype), (str(value), value.dtype))
        shape = hlo.Shape("(f32[2,<=3]{0,1}, token[])")
        self.assertEqual(pickle.loads(pickle.dumps(shape)), shape)

    def test_objects_that_never_become_arrays(self):
        class Endless:
            def __array__(self):
                return Endless()

        with self.assertRaisesRegex(hlo.InvalidArgument, "a Endless is no array"):
            hlo.Array(Endless())

        class Number(int):
            def __repr__(self):
                return "a number"

        self.assertEqual(hlo.Array(Number(7), "s32[]").item(), 7)

    def test_buffers(self):
        value = hlo.Array((ctypes.c_int32 * 3)(1, 2, 3))
        self.assertEqual((value.dtype, value.shape, value.tolist()), ("s32", (3,), [1, 2, 3]))
        view = memoryview(value)
        self.assertEqual((view.format, view.shape, view.readonly, view.tolist()), ("i", (3,), True, [1, 2, 3]))
        with self.assertRaises(TypeError):
            view[0] = 7
        with self.assertRaises(BufferError):
            memoryview(hlo.Array([1.0], "bf16[1]"))
        self.assertEqual(bytes(hlo.Array([1.0], "bf16[1]").data), b"\x80\x3f")
        empty = hlo.Array(memoryview(b""))
        self.assertEqual((empty.shape, empty.tolist(), bytes(memoryview(empty))), ((0,), [], b""))
        self.assertEqual(memoryview(hlo.Array(3, "s64[]")).tolist(), 3)

    def test_npy(self):
        value = hlo.Array([[1, 2], [3, 4]], "s16[2,2]")
        self.assertEqual(hlo.Array.from_npy(value.npy()).tolist(), [[1, 2], [3, 4]])
        self.assertEqual(hlo.Array.from_npy(hlo.Array([1.5], "bf16[1]").npy(), "bf16").tolist(), [1.5])
        with self.assertRaises(hlo.InvalidArgument):
            hlo.Array.from_npy(b"\x93NUMPY")

    def test_shapes(self):
        shape = hlo.Shape("(f32[2,3]{0,1}, s32[])")
        self.assertEqual(str(shape), "(f32[2,3]{0,1}, s32[])")
        self.assertEqual(str(hlo.Shape("f32[2,3]{1,0}")), "f32[2,3]")
        self.assertNotEqual(hlo.Shape("f32[2,3]{0,1}"), hlo.Shape("f32[2,3]"))
        self.assertEqual([str(element.dtype) for element in shape.elements], ["f32", "s32"])
        self.assertEqual(hlo.Shape("f32", [2, 3]), hlo.Shape("f32[2,3]"))
        self.assertEqual(hash(hlo.Shape("f32", [2, 3])), hash(hlo.Shape("f32[2,3]")))
        self.assertEqual(hlo.Shape.tuple([hlo.Shape("f32[]")]).nbytes, 4)
        for wrong in ("f33[2]", "f32[", "f32[-1]", ""):
            with self.assertRaises(hlo.InvalidArgument):
                hlo.Shape(wrong)
        with self.assertRaises(TypeError):
            hlo.Shape("f33", [2])


@unittest.skipIf(numpy is None, "NumPy is not installed")
class NumPy(unittest.TestCase):
    def test_types(self):
        for name, numpy_name in NUMPY_TYPES.items():
            given = numpy.array([[0, 1, 1], [1, 0, 1]], numpy_name)
            result = identity(f"{name}[2,3]")(given)
            self.assertEqual(result.dtype, name)
            self.assertEqual(numpy.asarray(result).dtype, given.dtype)
            numpy.testing.assert_array_equal(numpy.asarray(result), given)
            numpy.testing.assert_array_equal(result.numpy(), given)
            numpy.testing.assert_array_equal(numpy.from_dlpack(result), given)

    @unittest.skipIf(ml_dtypes is None, "ml_dtypes is not installed")
    def test_types_of_ml_dtypes(self):
        for name, ml_name in ML_TYPES.items():
            if not hasattr(ml_dtypes, ml_name):
                continue
            given = numpy.array([1, 1, 2], getattr(ml_dtypes, ml_name)) if name not in ("s2", "u2") else \
                numpy.array([1, 0, 1], getattr(ml_dtypes, ml_name))
            result = identity(f"{name}[3]")(given)
            self.assertEqual(result.dtype, name)
            self.assertEqual(numpy.asarray(result).dtype, given.dtype)
            self.assertEqual(numpy.asarray(result).tobytes(), given.tobytes())

    def test_scalars(self):
        for scalar in (numpy.float64(2.5), [numpy.float64(2.5)], numpy.complex128(2.5)):
            shape = "f32[1]" if isinstance(scalar, list) else "c64[]" if scalar.dtype.kind == "c" else "f32[]"
            self.assertEqual(numpy.asarray(identity(shape)(scalar)).ravel()[0], 2.5)

    def test_memory_is_shared(self):
        builder = hlo.Builder()
        x = builder.parameter(0, "f32[1000]", "x")
        result = hlo.compile(builder.build(x + x))(numpy.ones(1000, numpy.float32))
        a, b = numpy.asarray(result), numpy.from_dlpack(result)
        self.assertEqual(a.__array_interface__["data"][0], b.__array_interface__["data"][0])
        self.assertFalse(a.flags.writeable)
        del result
        self.assertEqual(a.sum(), 2000)
        self.assertTrue(numpy.array(hlo.Array([1], "s32[1]")).flags.writeable)

    def test_results_are_not_arguments(self):
        given = numpy.arange(4096, dtype=numpy.float32)
        result = identity("f32[4096]")(given)
        value = hlo.Array(given)
        given[:] = 0
        self.assertEqual(numpy.asarray(result)[7], 7)
        self.assertEqual(numpy.asarray(value)[7], 7)

    def test_other_orders(self):
        given = numpy.arange(24, dtype=numpy.int32).reshape(2, 3, 4)
        for seen in (given.T, given[:, ::2, 1:], given[::-1], numpy.asfortranarray(given), given[:0]):
            shape = ",".join(map(str, seen.shape))
            numpy.testing.assert_array_equal(numpy.asarray(identity(f"s32[{shape}]")(seen)), seen)
        unaligned = numpy.frombuffer(b"\0" + given.tobytes(), numpy.int32, offset=1)
        numpy.testing.assert_array_equal(numpy.asarray(identity("s32[24]")(unaligned)), given.ravel())

    def test_bytes_the_other_way_round(self):
        for name, numpy_name in NUMPY_TYPES.items():
            given = numpy.arange(6).reshape(2, 3)[:, ::-1].astype(numpy_name)
            if name.startswith("c"):
                given = given + given.dtype.type(2j)
            value = hlo.Array(given.astype(given.dtype.newbyteorder(">")))
            self.assertEqual(value.dtype, name)
            numpy.testing.assert_array_equal(numpy.asarray(value), given)

    def test_arrays_within_lists(self):
        rows = [numpy.float32([1, 2]), (numpy.int8(3), 4.5), hlo.Array([5, 6], "s32[2]")]
        self.assertEqual(hlo.Array(rows, "f32[3,2]").tolist(), [[1, 2], [3, 4.5], [5, 6]])
        if ml_dtypes is not None:
            halves = [ml_dtypes.bfloat16(1.5), ml_dtypes.bfloat16(-2)]
            self.assertEqual(hlo.Array(halves, "bf16[2]").tolist(), [1.5, -2])

    def test_tensors_in_any_order(self):
        class Tensor:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        given = numpy.arange(24, dtype=numpy.int16).reshape(2, 3, 4)
        for seen in (given, given.T, given[::-1], given[:, ::2, 3:0:-2], given[:0], numpy.array(7)):
            numpy.testing.assert_array_equal(numpy.asarray(hlo.Array(Tensor(seen))), seen)

    def test_tensors_that_refuse(self):
        class Tensor:
            def __dlpack_device__(self):
                return 1, 0

            def __dlpack__(self, **options):
                raise ZeroDivisionError("not today")

        with self.assertRaisesRegex(ZeroDivisionError, "not today"):
            hlo.Array(Tensor())
        with self.assertRaisesRegex(ZeroDivisionError, "not today"):
            identity("f32[2]")(Tensor())

    def test_copies_of_tensors(self):
        given = hlo.Array([[1, 2], [3, 4]], "s32[2,2]")
        for options in ({}, {"dl_device": (1, 0)}, {"stream": None}):
            capsule = given.__dlpack__(copy=True, max_version=(1, 0), **options)
            self.assertIn("dltensor_versioned", repr(capsule))
        self.assertIn('"dltensor"', repr(given.__dlpack__(copy=True)))
        with self.assertRaises(BufferError):
            given.__dlpack__(copy=True, dl_device=(2, 0))
        with self.assertRaises(TypeError):
            given.__dlpack__(copies=True)
        if numpy.lib.NumpyVersion(numpy.__version__) < "2.1.0":
            return
        copied = numpy.from_dlpack(given, copy=True)
        copied[0, 0] = 7
        self.assertEqual(given.tolist(), [[1, 2], [3, 4]])
        shared = numpy.from_dlpack(given, copy=False)
        self.assertFalse(shared.flags.writeable)
        del given
        self.assertEqual((copied.tolist(), shared.tolist()), ([[7, 2], [3, 4]], [[1, 2], [3, 4]]))

    def test_what_hlo_has_not(self):
        for wrong in (numpy.array(["a"]), numpy.array([object()]), numpy.zeros(2, [("a", "i4")]),
                      numpy.array(["2020-01-01"], "datetime64[D]"), numpy.zeros(2, numpy.longdouble)):
            with self.assertRaisesRegex(hlo.InvalidArgument, "a type that HLO does not have"):
                hlo.Array(wrong)
        with self.assertRaisesRegex(hlo.InvalidArgument, "f32"):
            identity("f32[2]")(numpy.zeros(2))
        with self.assertRaisesRegex(hlo.InvalidArgument, "f32"):
            identity("f32[2]")(numpy.zeros(3, numpy.float32))


if __name__ == "__main__":
    unittest.main()
