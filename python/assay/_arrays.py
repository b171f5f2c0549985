"""Arrays in and out: NumPy's, and by DLPack anybody's, without a copy; and what each element type of an op is in NumPy.

f32 f16 f64 i32 i64 u8   as they are
bf16                     ml_dtypes.bfloat16
blocks (q4_0 .. q8_k)    uint8 with one axis more: the bytes of a block
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from assay._errors import ArgumentError
from assay._extension import _assay

Array = npt.NDArray[Any]
Wire = tuple[str, tuple[int, ...], npt.NDArray[np.uint8]]

_SIZES = _assay.dtypes()
_NUMPY: dict[str, np.dtype[Any]] = {
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "f64": np.dtype(np.float64),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "bf16": np.dtype(ml_dtypes.bfloat16),
}
FRAMEWORKS = ("numpy", "torch", "jax", "mlx")


def is_block(dtype: str) -> bool:
    """Whether an element of this type is a block, which NumPy sees as bytes."""
    return dtype not in _NUMPY


def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """What NumPy has for an op's element type."""
    return _NUMPY.get(dtype, np.dtype(np.uint8))


def numpy_shape(dtype: str, shape: Sequence[int]) -> tuple[int, ...]:
    """The shape that an array of NumPy has: of blocks one axis more."""
    return (*shape, _SIZES[dtype][0]) if is_block(dtype) else tuple(shape)


def describe(array: Array) -> str:
    """Type and shape in words: float32 [3, 1000]."""
    return f"{array.dtype} [{', '.join(map(str, array.shape))}]"


def wanted_text(dtype: str, shape: Sequence[int | str]) -> str:
    """What was expected, in the same words."""
    axes = [str(axis) for axis in shape] + ([str(_SIZES[dtype][0])] if is_block(dtype) else [])
    return f"{numpy_dtype(dtype)} [{', '.join(axes)}]" + (f", blocks of {dtype}" if is_block(dtype) else "")


def from_wire(array: Wire) -> Array:
    """An array of the extension as NumPy's, over the same memory."""
    dtype, shape, data = array
    return data.view(numpy_dtype(dtype)).reshape(numpy_shape(dtype, shape))


def to_wire(dtype: str, array: Array) -> Wire:
    """And back. The array is dense and of the type."""
    shape = array.shape[:-1] if is_block(dtype) else array.shape
    return dtype, tuple(shape), array.reshape(-1).view(np.uint8)


def as_numpy(op: str, name: str, value: object) -> Array:
    """`value` as an array of NumPy over the same memory. Raises ArgumentError where it is none that this CPU can read."""
    wanted = "an array: NumPy's, or one that speaks DLPack, on the CPU"
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, np.generic) or not hasattr(value, "__dlpack__"):
        raise ArgumentError(op, name, "None" if value is None else f"a {type(value).__name__}", wanted)
    try:
        return _from_framework(value)
    except Exception as error:  # each framework has its own
        raise ArgumentError(op, name, f"a {type(value).__module__}.{type(value).__name__} that cannot be read ({error})", wanted) from error


def _from_framework(value: Any) -> Array:
    home = type(value).__module__.partition(".")[0]
    if home == "torch":
        import torch

        value = value.detach()
        if value.dtype == torch.bfloat16:
            return np.from_dlpack(value.view(torch.int16)).view(ml_dtypes.bfloat16)
    elif home == "mlx":
        import mlx.core as mx

        if value.dtype == mx.bfloat16:
            return np.array(value.view(mx.uint16), copy=False).view(ml_dtypes.bfloat16)
        return np.array(value, copy=False)
    elif home in ("jax", "jaxlib"):
        return np.asarray(value)
    return np.from_dlpack(value)


def to_framework(array: Array, framework: str) -> Any:
    """A writable array of NumPy as that of a framework; without a copy where it can do without."""
    if framework == "numpy":
        return array
    if framework == "torch":
        import torch

        if array.dtype == ml_dtypes.bfloat16:
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(array)
    if framework == "jax":
        import jax.numpy as jnp

        return jnp.asarray(array)
    import mlx.core as mx

    if array.dtype == ml_dtypes.bfloat16:
        return mx.array(array.view(np.uint16)).view(mx.bfloat16)
    return mx.array(array)


def framework_of(value: object) -> str | None:
    """Which framework an object is of, by the module of its type; None: none that is known."""
    home = type(value).__module__.partition(".")[0]
    return {"jaxlib": "jax"}.get(home, home) if home in (*FRAMEWORKS, "jaxlib") else None


def checked(op: str, name: str, value: object, dtype: str, shape: Sequence[int]) -> Array:
    """`value` as a dense array of this type and shape. Raises ArgumentError for any other."""
    array = as_numpy(op, name, value)
    wanted = wanted_text(dtype, shape)
    want_shape = numpy_shape(dtype, shape)
    if array.dtype != numpy_dtype(dtype) or array.shape != want_shape:
        order = "" if array.dtype.isnative else f", bytes in {'big' if sys.byteorder == 'little' else 'little'}-endian order"
        raise ArgumentError(op, name, describe(array) + order, wanted)
    if not array.flags.c_contiguous:
        strides = ", ".join(map(str, array.strides))
        raise ArgumentError(op, name, f"{describe(array)} with strides ({strides}) in bytes", "one without gaps, in C order: numpy.ascontiguousarray()")
    return array
