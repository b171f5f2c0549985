"""Number formats by integer arithmetic, and the tile-major layout: written from IEEE 754 and the ops' headers."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TILE = 32  # rows in a tile of tile-major weights


@dataclass(frozen=True)
class Bf16:
    """A bf16 tensor: NumPy has no such type, so its bits."""

    bits: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.bits.shape


@dataclass(frozen=True)
class Blocks:
    """A tensor of quantised blocks: its bytes [.., bytes of a block] and their format (blocks.py)."""

    data: np.ndarray
    format: str

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape[:-1]

    def __getitem__(self, place: slice | int | tuple | np.ndarray) -> Blocks:
        return Blocks(self.data[place], self.format)


Tensor = np.ndarray | Bf16 | Blocks


def tensor_array(tensor: Tensor) -> np.ndarray:
    """What is stored of it."""
    if isinstance(tensor, Bf16):
        return tensor.bits
    return tensor.data if isinstance(tensor, Blocks) else tensor


def tensor_bytes(tensor: Tensor) -> bytes:
    return np.ascontiguousarray(tensor_array(tensor)).tobytes()


def round_shift(value: np.ndarray, shift: np.ndarray | int) -> np.ndarray:
    """value / 2^shift to the nearest integer, ties to even; shift >= 1."""
    shift = np.asarray(shift, np.int64)
    quotient = value >> shift
    rest = value - (quotient << shift)
    half = np.int64(1) << (shift - 1)
    return quotient + ((rest > half) | ((rest == half) & (quotient & 1 == 1)))


def f32_to_f16_bits(x: np.ndarray) -> np.ndarray:
    """Nearest even, denormals kept, overflow to infinity; a NaN keeps its sign and top payload, quietened."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.int64)
    sign, exponent, mantissa = (bits >> 16) & 0x8000, (bits >> 23) & 0xFF, bits & 0x7FFFFF
    # In units of 2^-24, half's denormal step, a float is 1.m * 2^(exponent - 127 + 24 - 23): below half's
    # normals that integer is the half's bits; above, a shift of 13 leaves exponent and mantissa side by side.
    significand = mantissa | 0x800000
    denormal = round_shift(significand, np.clip(126 - exponent, 1, 40))
    normal = round_shift(((exponent - 112) << 23) | mantissa, 13)
    magnitude = np.where(exponent >= 113, np.minimum(normal, 0x7C00), np.where(exponent > 0, denormal, 0))
    nan = 0x7C00 | 0x200 | (mantissa >> 13)
    special = np.where(mantissa != 0, nan, 0x7C00)
    return (sign | np.where(exponent == 255, special, magnitude)).astype(np.uint16)


def f32_to_bf16_bits(x: np.ndarray) -> np.ndarray:
    """Nearest even on the upper half; a NaN keeps its sign and top payload, quietened."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.int64)
    is_nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return np.where(is_nan, (bits >> 16) | 0x40, round_shift(bits, 16)).astype(np.uint16)


def f16_bits_to_f32(bits: np.ndarray) -> np.ndarray:
    """Exact; a NaN keeps its sign and payload, quietened."""
    bits = bits.astype(np.int64)
    sign, exponent, mantissa = (bits & 0x8000) << 16, (bits >> 10) & 0x1F, bits & 0x3FF
    normal = ((exponent + 112) << 23) | (mantissa << 13)
    # m * 2^-24 is a normal float: exact in fp64 and so in fp32.
    denormal = (mantissa * 2.0**-24).astype(np.float32).view(np.uint32).astype(np.int64)
    special = 0x7F800000 | (mantissa << 13) | np.where(mantissa != 0, 0x400000, 0)
    magnitude = np.where(exponent == 31, special, np.where(exponent == 0, denormal, normal))
    return (sign | magnitude).astype(np.uint32).view(np.float32)


def bf16_bits_to_f32(bits: np.ndarray) -> np.ndarray:
    """A shift."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def from_f32(x: np.ndarray, dtype: str) -> Tensor:
    """f32 values rounded to dtype, nearest even."""
    if dtype == "f16":
        return f32_to_f16_bits(x).view(np.float16)
    if dtype == "bf16":
        return Bf16(f32_to_bf16_bits(x))
    assert dtype == "f32", dtype
    return np.ascontiguousarray(x, np.float32)


def to_f32(tensor: Tensor) -> np.ndarray:
    """The tensor's values, widened exactly."""
    if isinstance(tensor, Bf16):
        return bf16_bits_to_f32(tensor.bits)
    if tensor.dtype == np.float16:
        return f16_bits_to_f32(np.ascontiguousarray(tensor).view(np.uint16))
    assert tensor.dtype == np.float32, tensor.dtype
    return tensor


def pack_tiles(rows: np.ndarray, padding: np.ndarray | float = 0) -> np.ndarray:
    """[n, k] -> [ceil(n/32), k, 32]: dst[t, c, r] = src[32 t + r, c]; `padding` in the lanes past n."""
    n, k = rows.shape
    tiles = -(-n // TILE)
    full = np.empty((tiles * TILE, k), rows.dtype)
    full[:n], full[n:] = rows, padding
    return np.ascontiguousarray(full.reshape(tiles, TILE, k).swapaxes(1, 2))


def tile_rows(tiles: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The rows asked for, out of tile-major storage."""
    return tiles[rows // TILE, :, rows % TILE]


# Zeros, signalling and quiet NaNs, infinities and denormals of both signs, the largest payloads among them; nineteen, so that each lies
# in every lane of a vector.
CLASS_BITS = {
    "f32": (np.uint32, [0, 0x80000000, 0x7F800001, 0xFF800001, 0x7FA00000, 0xFFBFFFFF, 0x7FC00000, 0xFFC00000, 0x7FFFFFFF, 0xFFFFFFFF,
                        0x7FC12345, 0xFFC54321, 0x7F800000, 0xFF800000, 1, 0x80000001, 0x807FFFFF, 0x007FFFFF, 0x3F800000]),
    "f16": (np.uint16, [0, 0x8000, 0x7C01, 0xFC01, 0x7D00, 0xFDFF, 0x7E00, 0xFE00, 0x7FFF, 0xFFFF, 0x7E12, 0xFE34, 0x7C00, 0xFC00, 1,
                        0x8001, 0x83FF, 0x03FF, 0x3C00]),
    "bf16": (np.uint16, [0, 0x8000, 0x7F81, 0xFF81, 0x7FA0, 0xFFBF, 0x7FC0, 0xFFC0, 0x7FFF, 0xFFFF, 0x7FC1, 0xFFD4, 0x7F80, 0xFF80, 1,
                         0x8001, 0x807F, 0x007F, 0x3F80]),
}


def every_class(dtype: str, shape: tuple[int, ...]) -> Tensor:
    """Numbers whose bits a copy must keep and arithmetic does not."""
    word, bits = CLASS_BITS[dtype]
    tensor = np.resize(np.array(bits, word), shape)
    return Bf16(tensor) if dtype == "bf16" else tensor.view(np.float32 if dtype == "f32" else np.float16)
