"""The block formats, from their definitions (kernels/formats/blocks.h, docs/formats.md): fields, bytes, values.

An element is w = d * scale * q - dmin * minimum (scale and minimum of its sub-block), or w = d * q + m.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from block_formats import FORMATS
from fma32 import F32, quiet
from formats import Blocks, f16_bits_to_f32


@dataclass
class Fields:
    """A tensor of blocks taken apart; leading axes are the tensor's."""

    d: np.ndarray  # f32 [..]
    q: np.ndarray  # int32 [.., elements], the stored code minus the format's zero
    m: np.ndarray | None = None  # f32 [..]: dmin, or m of w = d q + m
    scale: np.ndarray | None = None  # int32 [.., subs]
    minimum: np.ndarray | None = None  # int32 [.., subs]
    bsums: np.ndarray | None = None  # int32 [.., 16], q8_k


def read_f16(data: np.ndarray, at: int) -> np.ndarray:
    return f16_bits_to_f32(np.ascontiguousarray(data[..., at:at + 2]).view("<u2")[..., 0])


def write_f16(value: np.ndarray) -> np.ndarray:
    """f32 values that a half holds -> two bytes; a NaN's payload is kept by the cast."""
    return np.ascontiguousarray(value, F32)[..., None].astype("<f2").view(np.uint8)


def read_nibbles(qs: np.ndarray) -> np.ndarray:
    """[.., b] -> [.., 2 b]: the low nibbles, then the high ones."""
    return np.concatenate([qs & 15, qs >> 4], axis=-1)


def write_nibbles(q: np.ndarray) -> np.ndarray:
    half = q.shape[-1] // 2
    return q[..., :half] | q[..., half:] << 4


def read_bits(qh: np.ndarray) -> np.ndarray:
    """[.., 4] -> [.., 32]: bit j of the little-endian word."""
    return np.unpackbits(np.ascontiguousarray(qh), axis=-1, bitorder="little")


def read_scales(b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[.., 12] -> scales and minima of 6 bits, [.., 8] each."""
    low, high = b[..., :8], b[..., 8:]
    scale = np.concatenate([low[..., :4] & 63, (high & 15) | low[..., :4] >> 6 << 4], axis=-1)
    minimum = np.concatenate([low[..., 4:] & 63, high >> 4 | low[..., 4:] >> 6 << 4], axis=-1)
    return scale, minimum


def write_scales(scale: np.ndarray, minimum: np.ndarray) -> np.ndarray:
    first = [v[..., :4] | v[..., 4:] >> 4 << 6 for v in (scale, minimum)]
    return np.concatenate([*first, (scale[..., 4:] & 15) | (minimum[..., 4:] & 15) << 4], axis=-1)


def split(blocks: Blocks) -> Fields:
    data, form = blocks.data, FORMATS[blocks.format]
    name, lead = form.name, data.shape[:-1]
    if name == "q8_k":
        d = np.ascontiguousarray(data[..., :4]).view("<f4")[..., 0]
        bsums = np.ascontiguousarray(data[..., 260:]).view("<i2").astype(np.int32)
        return Fields(d, data[..., 4:260].view(np.int8).astype(np.int32), bsums=bsums)
    if name == "q8_0":
        return Fields(read_f16(data, 0), data[..., 2:].view(np.int8).astype(np.int32))
    if name == "q6_k":
        low = read_nibbles(data[..., :128].reshape(*lead, 2, 64)).reshape(*lead, 2, 4, 32)
        high = data[..., 128:192].reshape(*lead, 2, 1, 32) >> np.uint8([[0], [2], [4], [6]]) & 3
        q = (low | high << 4).reshape(*lead, 256).astype(np.int32) - 32
        return Fields(read_f16(data, 208), q, scale=data[..., 192:208].view(np.int8).astype(np.int32))
    if form.subs == 8:
        scale, minimum = read_scales(data[..., 4:16])
        q = read_nibbles(data[..., -128:].reshape(*lead, 4, 32)).reshape(*lead, 8, 32)
        if name == "q5_k":
            q = q | (data[..., 16:48].reshape(*lead, 1, 32) >> np.arange(8, dtype=np.uint8)[:, None] & 1) << 4
        return Fields(read_f16(data, 0), q.reshape(*lead, 256).astype(np.int32), read_f16(data, 2),
                      scale.astype(np.int32), minimum.astype(np.int32))
    q = read_nibbles(data[..., -16:])
    if name in ("q5_0", "q5_1"):
        q = q | read_bits(data[..., -20:-16]) << 4
    return Fields(read_f16(data, 0), q.astype(np.int32) - form.zero, read_f16(data, 2) if form.has_offset else None)


def join(name: str, f: Fields) -> Blocks:
    """The inverse of split; q8_k's sums are made if absent."""
    form, lead = FORMATS[name], f.q.shape[:-1]
    if name == "q8_k":
        bsums = f.q.reshape(*lead, 16, 16).sum(axis=-1) if f.bsums is None else f.bsums
        parts = [np.ascontiguousarray(f.d, "<f4")[..., None].view(np.uint8), f.q.astype(np.int8).view(np.uint8),
                 np.ascontiguousarray(bsums.astype("<i2")).view(np.uint8)]
        return Blocks(np.concatenate(parts, axis=-1), name)
    q = (f.q + form.zero).astype(np.uint8)
    if name == "q8_0":
        parts = [write_f16(f.d), q]
    elif name == "q6_k":
        q = q.reshape(*lead, 2, 4, 32)
        high = (q >> 4 << np.uint8([[0], [2], [4], [6]])).sum(axis=-2, dtype=np.uint8)
        parts = [write_nibbles((q & 15).reshape(*lead, 2, 128)).reshape(*lead, 128), high.reshape(*lead, 64),
                 f.scale.astype(np.int8).view(np.uint8), write_f16(f.d)]
    elif form.subs == 8:
        q = q.reshape(*lead, 8, 32)
        parts = [write_f16(f.d), write_f16(f.m), write_scales(f.scale.astype(np.uint8), f.minimum.astype(np.uint8))]
        if name == "q5_k":
            parts.append((q >> 4 << np.arange(8, dtype=np.uint8)[:, None]).sum(axis=-2, dtype=np.uint8))
        parts.append(write_nibbles((q & 15).reshape(*lead, 4, 64)).reshape(*lead, 128))
    else:
        parts = [write_f16(f.d)] + ([write_f16(f.m)] if form.has_offset else [])
        if name in ("q5_0", "q5_1"):
            parts.append(np.packbits(q >> 4, axis=-1, bitorder="little"))
        parts.append(write_nibbles(q & 15))
    return Blocks(np.concatenate(parts, axis=-1), name)


@quiet
def decode64(blocks: Blocks) -> np.ndarray:
    """[.., elements] in fp64: exact, because every figure is a multiple of 2^-24 (q8_k: one product)."""
    form, f = FORMATS[blocks.format], split(blocks)
    d = f.d.astype(np.float64)[..., None]
    if form.subs == 1:
        value = d * f.q
        return value + f.m.astype(np.float64)[..., None] if form.has_offset else value
    width = form.elements // form.subs
    value = d * np.repeat(f.scale, width, axis=-1) * f.q
    if form.has_minimum:
        value = value - f.m.astype(np.float64)[..., None] * np.repeat(f.minimum, width, axis=-1)
    return value


@quiet
def decode32(blocks: Blocks) -> np.ndarray:
    """What decode_<format> gives: the exact value, rounded once; NaN as 0x7fc00000."""
    value = decode64(blocks).astype(F32)
    return np.where(np.isnan(value), np.uint32(0x7FC00000).view(F32), value)


def rows_of(blocks: Blocks) -> np.ndarray:
    """decode32 of [.., blocks of a row], as rows [.., k]."""
    values = decode32(blocks)
    return values.reshape(*values.shape[:-2], values.shape[-2] * values.shape[-1])
