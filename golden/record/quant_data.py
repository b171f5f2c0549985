"""Blocks for the cases of the quantised ops: random ones of every bit, and ones written by hand."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from block_formats import FORMATS
from blocks import Fields, join
from fma32 import F32
from formats import Blocks
from generate import Draw
from quant import half_range, quantize


def half_scales(draw: Draw, shape: tuple[int, ...], low: int = -12, high: int = -4) -> np.ndarray:
    """f32 values that a half holds, both signs, 2^low .. 2^high."""
    return half_range(draw.array("wide", shape, low=low, high=high))


def integers(draw: Draw, shape: tuple[int, ...], low: int, high: int) -> np.ndarray:
    """low .. high, both included."""
    return draw.array("index", shape, "i32", low=low, high=high + 1)


def random_fields(draw: Draw, name: str, shape: tuple[int, ...], low: int = -12, high: int = -4) -> Fields:
    """Codes and scales over all their bits, d and dmin of both signs."""
    form = FORMATS[name]
    found = Fields(half_scales(draw, shape, low, high), integers(draw, (*shape, form.elements), *form.codes))
    if form.has_minimum:
        found.scale, found.minimum = (integers(draw, (*shape, form.subs), 0, 63) for _ in range(2))
    elif form.subs > 1:
        found.scale = integers(draw, (*shape, form.subs), -128, 127)
    if form.has_minimum or form.has_offset:
        found.m = half_scales(draw, shape, low, high)
    return found


def random_blocks(draw: Draw, name: str, shape: tuple[int, ...], low: int = -12, high: int = -4) -> Blocks:
    return join(name, random_fields(draw, name, shape, low, high))


def activations(draw: Draw, name: str, shape: Sequence[int], distribution: str = "gauss", **how: float) -> Blocks:
    """f32 [.., k] drawn and quantised."""
    *lead, blocks = shape
    return quantize(name, draw.array(distribution, (*lead, blocks * FORMATS[name].elements), **how))


def activation_codes(name: str, codes: np.ndarray, d: np.ndarray | float) -> Blocks:
    """Blocks of the codes given, [.., elements]."""
    return join(name, Fields(np.broadcast_to(F32(d), codes.shape[:-1]), codes.astype(np.int32)))


def uniform_fields(name: str, shape: tuple[int, ...], code: int, scale: int, minimum: int) -> Fields:
    """d = dmin = 1 and the same figures in every place, as far as the format has them."""
    form = FORMATS[name]
    found = Fields(np.ones(shape, F32), np.full((*shape, form.elements), code, np.int32))
    if form.subs > 1:
        found.scale = np.full((*shape, form.subs), scale, np.int32)
    if form.has_minimum:
        found.m, found.minimum = np.ones(shape, F32), np.full((*shape, form.subs), minimum, np.int32)
    elif form.has_offset:
        found.m = np.ones(shape, F32)
    return found
