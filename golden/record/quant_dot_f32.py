"""Data for quantised weights by f32 activations: what decoding in registers and chains of 64 must survive."""
from __future__ import annotations

import numpy as np

from blocks import join, rows_of
from fma32 import F32
from formats import Blocks
from quant_data import half_scales, random_blocks, random_fields
from quant_dot_data import ROWS, extreme_rows
from quant_dot_target import Target
from schema import Case


def f32_data_sets(target: Target) -> list[Case]:
    draw, m, elements = target.draw("data"), 3 if target.gemm else 1, target.form.elements
    blocks = target.columns(3)
    k = blocks * elements

    def x(distribution: str, **how: float) -> np.ndarray:
        return draw.array(distribution, (m, k), **how)

    def weights(low: int = -12, high: int = -4) -> Blocks:
        return random_blocks(draw, target.weights, (ROWS, blocks), low, high)

    sparse = np.zeros((m, k), F32)
    sparse[:, [3, k // 2 + 1, k - 1]] = draw.array("uniform", (m, 3)) + F32(1)
    tail = x("gauss")
    tail[:, -7:] *= F32(1e4)
    onto = x("uniform", scale=1e-4)
    onto[:, ::64] = 4000
    signs = np.where(np.arange(k) % 2 == 0, F32(1), F32(-1))
    special = x("gauss")
    special[:, k - 2] = np.inf
    bad = random_fields(draw, target.weights, (ROWS, blocks))
    bad.d[2, 1], bad.d[7, 0], bad.d[18, -1] = np.nan, np.inf, -np.inf
    tiny = random_fields(draw, target.weights, (ROWS, blocks))
    tiny.d = half_scales(draw, (ROWS, blocks), -24, -15)
    climb = np.full((m, k), 0.98 * 2.0**-23, F32)
    climb[:, ::64] = 1
    ones = np.full((m, k), 1, F32)
    ones[:, 1::2] = 0.5
    unit_rows = units(target, climb)
    found = [
        target.case("wide", weights(-14, 14), x("wide", low=-30, high=30)),
        target.case("mixed_zero", weights(), x("mixed_zero")), target.case("positive", weights(), x("positive")),
        target.case("cancellation", weights(), signs * (F32(1) + F32(2.0**-20) * x("uniform")), "cancellation"),
        target.case("small_onto_large", weights(), onto), target.case("last_columns", weights(), tail, "tail"),
        target.case("three_nonzeros", weights(), sparse, note="a kernel that rounds activations to f16 is outside"),
        target.case("denormal_x", weights(4, 12), x("denormal"), "denormal"),
        target.case("denormal_w", join(target.weights, tiny), x("gauss"), "denormal"),
        target.case("denormal_products", weights(), x("uniform", scale=1e-38), "denormal"),
        target.case("all_extremes", extreme_rows(target.weights, blocks), ones, "extremes"),
        target.case("zero_x", weights(), np.zeros((m, k), F32), "trivial"),
        target.case("nonfinite_x", weights(), special, "nonfinite"),
        target.case("nonfinite_w", join(target.weights, bad), x("gauss"), "nonfinite"),
        target.case("maximal", doubling(target), x("uniform", scale=2.0**113), "maximal",
                    note="sums pass FLT_MAX as the rows' scales double"),
        target.case("climb", unit_rows, climb, "rounding", note="each addition loses 0.98 ulp if truncated"),
    ]
    return found


def doubling(target: Target) -> Blocks:
    fields = random_fields(target.draw("maximal"), target.weights, (ROWS, target.columns(3)))
    ladder = np.ldexp(F32(1), np.arange(ROWS) - 10).astype(F32)[:, None]
    fields.d = np.broadcast_to(ladder, fields.d.shape)
    fields.m = None if fields.m is None else fields.d
    return join(target.weights, fields)


def units(target: Target, x: np.ndarray) -> Blocks:
    """Weights that are 1 everywhere, or -1: q8_0 with d = 1 and q = 1; q4_k with scale 1, code 1, no minimum."""
    fields = random_fields(target.draw("climb"), target.weights, (ROWS, x.shape[1] // target.form.elements))
    fields.d[:], fields.q[:] = np.where(np.arange(ROWS) % 2 == 0, F32(1), F32(-1))[:, None], 1
    if target.form.has_minimum:
        fields.m[:], fields.scale[:], fields.minimum[:] = 0, 1, 0
    blocks = join(target.weights, fields)
    assert (np.abs(rows_of(blocks)) == 1).all()
    return blocks
