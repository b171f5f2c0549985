"""A hundred malformed calls: each an exception that names the op, the argument, what it was and what was expected. Nothing crashes."""

import gc
import os
from pathlib import Path

import kernels
import ml_dtypes
import numpy as np
import pytest

import assay

X = np.ones((2, 8), np.float32)
W = np.ones(8, np.float32)
NAN = float("nan")


class Dying:
    """Speaks DLPack until it is asked."""

    def __dlpack__(self, **_):
        raise BufferError("the memory is gone")

    def __dlpack_device__(self):
        return (1, 0)


class Elsewhere:
    """Lies on a GPU."""

    def __dlpack__(self, **_):
        raise BufferError("cannot export from device 2")

    def __dlpack_device__(self):
        return (2, 0)


class NoCapsule:
    """Hands over something else."""

    def __dlpack__(self, **_):
        return "a capsule"

    def __dlpack_device__(self):
        return (1, 0)


# What is handed over in the place of x [2, 8] float32, and words of the exception.
NO_X = {
    "none": (None, "x is None"),
    "a number": (3, "x is a int"),
    "a real": (3.5, "x is a float"),
    "text": ("x", "x is a str"),
    "bytes": (b"1234", "x is a bytes"),
    "a list": ([[1.0] * 8] * 2, "x is a list"),
    "a tuple": ((1.0,), "x is a tuple"),
    "a dict": ({}, "x is a dict"),
    "a set": (set(), "x is a set"),
    "a class": (np.ndarray, "x is a builtins.type that cannot be read"),
    "a function": (len, "x is a builtin_function_or_method"),
    "a memoryview": (memoryview(X), "x is a memoryview"),
    "a scalar of NumPy": (np.float32(1), "x is a float32"),
    "fp64": (X.astype(np.float64), "x is float64 [2, 8]; expected float32"),
    "fp16": (X.astype(np.float16), "x is float16 [2, 8]; expected float32"),
    "bf16": (X.astype(ml_dtypes.bfloat16), "x is bfloat16 [2, 8]; expected float32"),
    "fp8": (X.astype(ml_dtypes.float8_e4m3fn), "x is float8_e4m3fn [2, 8]; expected float32"),
    "int32": (X.astype(np.int32), "x is int32 [2, 8]; expected float32"),
    "uint8": (X.astype(np.uint8), "x is uint8 [2, 8]; expected float32"),
    "bool": (X.astype(bool), "x is bool [2, 8]; expected float32"),
    "complex": (X.astype(np.complex64), "x is complex64 [2, 8]; expected float32"),
    "objects": (X.astype(object), "x is object [2, 8]; expected float32"),
    "texts": (X.astype(str), "x is <U32 [2, 8]; expected float32"),
    "big-endian": (X.astype(">f4"), "x is >f4 [2, 8]; expected float32"),
    "records": (np.zeros(2, [("a", "f4")]), "x is [('a', '<f4')] [2]; expected float32"),
    "dates": (np.zeros(2, "M8[s]"), "x is datetime64[s] [2]; expected float32"),
    "no axes": (np.float32(1).reshape(()), "x"),
    "one axis": (X[0], "x is float32 [8]; expected float32"),
    "three axes": (X[None], "x is float32 [1, 2, 8]; expected float32 [1, 2]"),
    "another width": (np.ones((2, 9), np.float32), "w is float32 [8]; expected float32 [9]"),
    "Fortran's order": (np.asfortranarray(X), "with strides (4, 8) in bytes; expected one without gaps"),
    "rows that skip": (np.ones((4, 8), np.float32)[::2], "with strides (64, 4) in bytes; expected one without gaps"),
    "columns that skip": (np.ones((2, 16), np.float32)[:, ::2], "with strides (64, 8) in bytes"),
    "reversed": (X[::-1], "with strides (-32, 4) in bytes"),
    "broadcast": (np.broadcast_to(np.float32(1), (2, 8)), "with strides (0, 0) in bytes"),
    "transposed": (np.ones((8, 2), np.float32).T, "with strides (4, 8) in bytes"),
    "an array that dies": (Dying(), "that cannot be read (the memory is gone)"),
    "a GPU's": (Elsewhere(), "that cannot be read"),
    "no capsule": (NoCapsule(), "that cannot be read"),
}
NO_W = {
    "none": (None, "w is None"),
    "two axes": (X, "w is float32 [2, 8]; expected float32"),
    "too long": (np.ones(9, np.float32), "expected float32"),
    "too short": (np.ones(7, np.float32), "expected float32"),
    "empty": (np.ones(0, np.float32), "expected float32"),
    "fp64": (np.ones(8), "w is float64 [8]; expected float32 [n]"),
    "skips": (np.ones(16, np.float32)[::2], "w is float32 [8] with strides (8) in bytes"),
}
NO_Y = {
    "none": (None, "y is None"),
    "a list": ([1.0], "y is a list"),
    "fp64": (X.astype(np.float64), "y is float64 [2, 8]; expected float32 [2, 8]"),
    "another shape": (X.T.copy(), "y is float32 [8, 2]; expected float32 [2, 8]"),
    "flat": (X.ravel(), "y is float32 [16]; expected float32 [2, 8]"),
    "skips": (np.ones((2, 16), np.float32)[:, ::2], "y is float32 [2, 8] with strides"),
    "a scalar": (np.float32(2), "y is a float32"),
    "dies": (Dying(), "y is a"),
}
NO_SCALARS = {
    "eps none": ({"eps": None}, "eps is None; expected a real number"),
    "eps text": ({"eps": "small"}, "eps is 'small'; expected a real number"),
    "eps an array": ({"eps": np.ones(3)}, "expected a real number"),
    "eps complex": ({"eps": 1j}, "eps is 1j; expected a real number"),
    "eps zero": ({"eps": 0.0}, "bad_parameter"),
    "eps negative": ({"eps": -1e-6}, "bad_parameter"),
    "eps NaN": ({"eps": NAN}, "bad_parameter"),
    "eps infinite": ({"eps": float("inf")}, "bad_parameter"),
    "eps denormal": ({"eps": 1e-40}, "bad_parameter"),
    "eps too large": ({"eps": 1e300}, "bad_parameter"),
    "no eps": ({}, "eps is not given; expected a value"),
    "n NaN": ({"eps": 1e-6, "n": NAN}, "n is nan; expected an integer"),
    "n real": ({"eps": 1e-6, "n": 8.0}, "n is 8.0; expected an integer"),
    "n text": ({"eps": 1e-6, "n": "8"}, "n is '8'; expected an integer"),
    "n none": ({"eps": 1e-6, "n": None}, "n is None; expected an integer"),
    "n negative": ({"eps": 1e-6, "n": -1}, "n is -1; expected a size"),
    "n too large": ({"eps": 1e-6, "n": 2**40}, "n is 1099511627776; expected a size"),
    "n past 64 bits": ({"eps": 1e-6, "n": 2**80}, "expected a size"),
    "n another": ({"eps": 1e-6, "n": 7}, "x is float32 [2, 8]; expected float32 [2, 7]"),
    "rows another": ({"eps": 1e-6, "rows": 3}, "x is float32 [2, 8]; expected float32 [3, 8]"),
    "a stride": ({"eps": 1e-6, "x_stride": 16}, "unknown argument 'x_stride'"),
    "a typo": ({"esp": 1e-6}, "unknown argument 'esp'; the nearest is 'eps'"),
    "an output": ({"eps": 1e-6, "y": X}, "unknown argument 'y'"),
}
OTHER_OPS = {
    "no input": (lambda: assay.reference("rms_norm", eps=1e-6), "not given"),
    "no w": (lambda: assay.reference("rms_norm", x=X, eps=1e-6), "w is not given; expected float32 [n]"),
    "two results": (lambda: assay.compare("rms_norm", X, X, x=X, w=W, eps=1e-6), "the result is 2 arrays; expected 1: y"),
    "no result": (lambda: assay.compare("rms_norm", x=X, w=W, eps=1e-6), "the result is 0 arrays"),
    "no such op": (lambda: assay.reference("rms_nrm", x=X), "the nearest is 'rms_norm'"),
    "no op": (lambda: assay.reference("", x=X), "unknown op ''"),
    "an enumerator": (
        lambda: assay.reference("rope_table", positions=np.zeros(3, np.int32), pairs=4, recipe="llama", theta=1e4),
        "recipe is 'llama'; expected one of 'f64'",
    ),
    "an enumerator's number": (
        lambda: assay.reference("rope_table", positions=np.zeros(3, np.int32), pairs=4, recipe=1, theta=1e4),
        "recipe is 1; expected one of",
    ),
    "blocks as floats": (lambda: assay.reference("decode_q4_0", src=np.zeros((4, 18), np.float32)), "expected uint8 [n / 32, 18], blocks of q4_0"),
    "blocks of other bytes": (
        lambda: assay.reference("decode_q4_0", src=np.zeros((4, 17), np.uint8)),
        "src is uint8 [4, 17]; expected uint8 [4, 18], blocks of q4_0",
    ),
    "bits for bf16": (lambda: assay.reference("convert_bf16_f32", src=np.zeros(4, np.uint16)), "src is uint16 [4]; expected bfloat16"),
    "an index past the table": (lambda: assay.reference("embed_f32", table=X, ids=np.array([2], np.int32)), "out_of_range"),
    "a negative index": (lambda: assay.reference("embed_f32", table=X, ids=np.array([-1], np.int32)), "out_of_range"),
    "int64 ids": (lambda: assay.reference("embed_f32", table=X, ids=np.array([0])), "ids is int64 [1]; expected int32"),
    "another k": (lambda: assay.reference("add", a=np.ones(8, np.float32), b=np.ones(9, np.float32)), "b is float32 [9]; expected float32 [8]"),
    "no case": (lambda: assay.cases("rms_norm")["nope"], "unknown case 'nope'"),
    "no trace": (lambda: assay.Trace("/nowhere.h5"), "/nowhere.h5"),
    "a folder for a trace": (lambda: assay.Trace("/tmp"), "/tmp"),
    "no model": (lambda: assay.audit("/nowhere", "/nowhere.h5"), "/nowhere"),
    "an option of arrays": (lambda: assay.check("rms_norm", kernels.right, arrays="cupy"), "arrays is 'cupy'"),
    "a plugin that is a folder": (lambda: assay.check("rms_norm", "/tmp"), "there is no such file"),
    "data": (lambda: assay.check("rms_norm", kernels.right, data="gaus"), "gaus"),
    "a shape's kind": (lambda: assay.check("rms_norm", kernels.right, shape={"n": None}), "n is None; expected a number or a word"),
}
CALLS = [
    *((f"x: {name}", lambda v=value: assay.reference("rms_norm", x=v, w=W, eps=1e-6), words) for name, (value, words) in NO_X.items()),
    *((f"w: {name}", lambda v=value: assay.reference("rms_norm", x=X, w=v, eps=1e-6), words) for name, (value, words) in NO_W.items()),
    *((f"y: {name}", lambda v=value: assay.compare("rms_norm", v, x=X, w=W, eps=1e-6), words) for name, (value, words) in NO_Y.items()),
    *((f"scalar: {name}", lambda v=value: assay.reference("rms_norm", x=X, w=W, **v), words) for name, (value, words) in NO_SCALARS.items()),
    *((f"other: {name}", call, words) for name, (call, words) in OTHER_OPS.items()),
]


def test_there_are_a_hundred():
    assert len(CALLS) >= 100


@pytest.mark.parametrize(("call", "words"), [call[1:] for call in CALLS], ids=[call[0] for call in CALLS])
def test_each_is_named(call, words):
    with pytest.raises(assay.AssayError) as caught:
        call()
    assert words in str(caught.value), str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_a_result_refers_to_lives_on():
    x = X.copy()
    truth = assay.reference("rms_norm", x=x, w=W, eps=1e-6)["y"]
    value = truth.value
    del truth, x
    gc.collect()
    filler = [np.ones(16) for _ in range(100)]
    np.testing.assert_allclose(value, 1, rtol=1e-5)
    assert filler


def test_many_calls_leave_no_memory_behind():
    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

    x, w = np.ones((64, 1024), np.float32), np.ones(1024, np.float32)
    for _ in range(20):
        assay.reference("rms_norm", x=x, w=w, eps=1e-6)
    before = resident()
    for _ in range(200):
        assay.reference("rms_norm", x=x, w=w, eps=1e-6)
    assert resident() - before < 32 << 20
