"""Data for products of blocks by blocks that expose what plausible data lets through (docs/numerics.md)."""
from __future__ import annotations

import numpy as np

import dots
from block_formats import FORMATS, Format
from blocks import join
from fma32 import F32, fma32, quiet
from formats import Blocks
from generate import Draw
from quant_data import activation_codes, half_scales, integers, random_blocks, random_fields, uniform_fields
from quant_dot_target import Target
from schema import Case

ROWS = 21  # of weights: more than a packed block, and no multiple of anything


def scale_range(form: Format) -> tuple[int, int]:
    return (-128, 127) if form.subs == 16 else (0, 63)


def extreme_rows(name: str, blocks: int) -> Blocks:
    """Rows of the largest codes and scales, the smallest, alternating ones, and one sub-block of them at a time."""
    form = FORMATS[name]
    low, high = form.codes
    scale_low, scale_high = scale_range(form)
    fields = uniform_fields(name, (ROWS, blocks), high, scale_high, 63)
    place = np.arange(form.elements)
    for row, q in enumerate([high, low, np.where(place % 2, low, high), np.where(place // 2 % 2, low, high),
                             np.where(place // 16 % 2, low, high), np.where(place < form.elements // 2, high, low)]):
        fields.q[row] = q
    if form.subs > 1:
        fields.q[6], fields.scale[6] = low, scale_low
        fields.q[7], fields.scale[7] = high, scale_low
        for row in range(8, 8 + min(form.subs, 12)):  # one sub-block only: the last, the one before ..
            fields.scale[row] = 0
            fields.scale[row, :, form.subs - 1 - (row - 8)] = scale_high
    else:
        for row in range(6, 16):
            fields.q[row] = 0
            fields.q[row, :, (row - 6) * 3:(row - 6) * 3 + 4] = low if row % 2 else high
    if form.has_minimum:
        fields.m[16:19] = 0
        fields.d[19:], fields.minimum[8:16] = 0, 0
        fields.minimum[20] = np.arange(8) * 9
    if form.has_offset:
        fields.m[6:16:2], fields.m[16:18], fields.d[18:20] = -1, 0, 0
        fields.m[20] = -7.5  # codes around 0
    return join(name, fields)


def extreme_activations(name: str, blocks: int) -> dict[str, np.ndarray]:
    """Codes [blocks, elements]."""
    place = np.arange(FORMATS[name].elements)
    shape = (blocks, len(place))
    return {"plus": np.full(shape, 127), "minus": np.full(shape, -127),
            "alternating": np.broadcast_to(np.where(place % 2, -127, 127), shape),
            "pairs": np.broadcast_to(np.where(place // 2 % 2, -127, 127), shape),
            "sixteens": np.broadcast_to(np.where(place // 16 % 2, -127, 127), shape),
            "steps": np.broadcast_to(place // 16 * 15 - 119, shape)}  # every sum of sixteen another


def codes_of(target: Target, draw: Draw, rows: int, blocks: int) -> np.ndarray:
    return integers(draw, (rows, blocks, FORMATS[target.x].elements), -127, 127)


def extremes(target: Target) -> list[Case]:
    """No int16 in between holds these."""
    blocks = 2 if target.form.elements == 256 else 3
    w, patterns = extreme_rows(target.weights, blocks), extreme_activations(target.x, blocks)
    if target.gemm:
        x = activation_codes(target.x, np.stack(list(patterns.values())), 1.0)
        return [target.case("all_extremes", w, x, "extremes")]
    return [target.case(f"all_extremes_{label}", w, activation_codes(target.x, codes[None], 1.0), "extremes")
            for label, codes in patterns.items()]


def rows_like(target: Target, codes: np.ndarray, d: np.ndarray | float) -> Blocks:
    """Codes [blocks, elements] as x: for a gemm also their negation and their reverse."""
    rows = np.stack([codes, -codes, codes[:, ::-1]]) if target.gemm else codes[None]
    return activation_codes(target.x, rows, d)


def cancelling(target: Target) -> Case:
    """Blocks in pairs that cancel, and a small one."""
    draw, blocks = target.draw("cancellation"), 9
    f = random_fields(draw, target.weights, (ROWS, blocks))
    for b in range(1, blocks - 1, 2):
        for values, sign in ((f.d, -1), (f.m, -1), (f.q, 1), (f.scale, 1), (f.minimum, 1)):
            if values is not None:
                values[:, b] = sign * values[:, b - 1]
    f.d[:, -1] *= F32(2.0**-9)
    codes = codes_of(target, draw, 1, blocks)[0]
    codes[1:-1:2] = codes[:-2:2]
    return target.case("cancellation", join(target.weights, f), rows_like(target, codes, 2.0**-7), "cancellation")


def small_onto_large(target: Target) -> Case:
    draw, blocks = target.draw("small_onto_large"), 12
    f = random_fields(draw, target.weights, (ROWS, blocks), -14, -9)
    f.d[:, 0] = half_scales(draw, (ROWS,), 2, 6)
    return target.case("small_onto_large", join(target.weights, f),
                       rows_like(target, codes_of(target, draw, 1, blocks)[0], 2.0**-7))


def sparse(target: Target) -> Case:
    """Three codes that are not 0: in the first block, a middle one and in the last place of the last."""
    draw, blocks = target.draw("sparse"), 12 if target.form.elements == 256 else 96
    codes = np.zeros((blocks, FORMATS[target.x].elements), np.int32)
    codes[0, 5], codes[blocks // 2, 17], codes[-1, -1] = 127, -94, 61
    return target.case("three_nonzeros", random_blocks(draw, target.weights, (ROWS, blocks)),
                       rows_like(target, codes, 0.5))


def last_block(target: Target, blocks: int) -> Case:
    draw = target.draw(f"last_block/{blocks}")
    f = random_fields(draw, target.weights, (ROWS, blocks), -10, -8)
    for scales in (f.d, f.m):
        if scales is not None:
            scales[:, -1] = half_scales(draw, (ROWS,), 3, 6)
    return target.case(f"last_of_{blocks}", join(target.weights, f),
                       rows_like(target, codes_of(target, draw, 1, blocks)[0], 0.25), "tail")


def past_24_bits(target: Target) -> list[Case]:
    """Codes, scales and activations all near their largest: I1 is more than f32 holds, and is to be rounded once."""
    if not target.gemm or target.form.elements != 256:
        return []
    draw, blocks = target.draw("past_24_bits"), 1
    f = random_fields(draw, target.weights, (ROWS, blocks))
    high, scale_high = target.form.codes[1], scale_range(target.form)[1]
    f.q = integers(draw, f.q.shape, high - 2, high)
    f.scale = integers(draw, f.scale.shape, scale_high - 3, scale_high)
    codes = integers(draw, (blocks, FORMATS[target.x].elements), 119, 127)
    return [target.case("past_24_bits", join(target.weights, f), rows_like(target, codes, 2.0**-7), "extremes")]


def past_13_bits(target: Target) -> list[Case]:
    """I1 has more than 13 bits: (d_w d_x) I1 is exact until it is added, (d_w I1) d_x is not."""
    if not target.gemm or target.form.elements != 32:
        return []
    draw, blocks, high = target.draw("past_13_bits"), 11, target.form.codes[1]
    f = random_fields(draw, target.weights, (ROWS, blocks))
    f.q = integers(draw, f.q.shape, high - 2, high)
    codes = integers(draw, (blocks, FORMATS[target.x].elements), 113, 127)
    return [target.case("past_13_bits", join(target.weights, f), rows_like(target, codes, 2.0**-7), "extremes")]


def minimum_only(target: Target) -> list[Case]:
    """d = 0: the activations' sums alone make the result."""
    if not (target.form.has_minimum or target.form.has_offset):
        return []
    draw = target.draw("minimum_only")
    f = random_fields(draw, target.weights, (ROWS, 3))
    f.d[:] = 0
    if target.form.has_minimum:
        f.minimum[:8] = np.eye(8, dtype=np.int32)[:, None] * 63
    x = rows_like(target, codes_of(target, draw, 1, 3)[0], 0.01)
    return [target.case("minimum_only", join(target.weights, f), x)]


def small_scales(target: Target) -> list[Case]:
    """Products of scales below 2^-126 (by q8_k), and f16 scales that are denormal."""
    draw, blocks, found = target.draw("small_scales"), 3, []
    for label, w_range, d_x in (("tiny_products", (-24, -10), [2.0**-112, 1.7 * 2.0**-120, 1.3 * 2.0**-105]),
                                ("denormal_d_x", (-2, 9), [2.0**-128, 1.3 * 2.0**-131, 2.0**-149]),
                                ("denormal_d_w", (-24, -15), [1.0, 0.7, 3.0])):
        if target.x == "q8_0":
            d_x = [2.0**-24, 3 * 2.0**-20, 2.0**-15] if label != "denormal_d_w" else [1.0, 0.5, 3.0]
            label = label.replace("tiny_products", "denormal_both")
        f = random_fields(draw, target.weights, (ROWS, blocks), *w_range)
        x = rows_like(target, codes_of(target, draw, 1, blocks)[0], F32(d_x))
        found.append(target.case(label, join(target.weights, f), x, "denormal"))
    return found


def zeros(target: Target) -> list[Case]:
    draw = target.draw("zeros")
    f = random_fields(draw, target.weights, (ROWS, 2))
    x = rows_like(target, codes_of(target, draw, 1, 2)[0], 0.5)
    signed = random_fields(draw, target.weights, (ROWS, 2))
    signed.d[::3], signed.d[1::3, 0] = -0.0, 0.0
    if target.form.has_offset:
        signed.m[::2], signed.m[3::6, 0] = -0.0, 0.0
    empty = Blocks(np.zeros((ROWS, 2, target.form.size), np.uint8), target.weights)
    no_x = rows_like(target, np.zeros((2, FORMATS[target.x].elements), np.int32), 0.0)
    return [target.case("zero_w", empty, x, "trivial"), target.case("zero_x", join(target.weights, f), no_x, "trivial"),
            target.case("signed_zero_scales", join(target.weights, signed), x)]


def nonfinite(target: Target) -> list[Case]:
    """NaN and infinite scales in some rows; products of scales or sums past FLT_MAX in others."""
    draw = target.draw("nonfinite")
    f = random_fields(draw, target.weights, (ROWS, 3))
    f.d[2, 1], f.d[9, 2], f.d[11, 0] = np.nan, np.inf, -np.inf
    f.d[17] = np.nan
    if f.m is not None:
        f.m[4, 1], f.m[6, 0], f.m[9, 1] = np.nan, np.inf, np.inf
    x = rows_like(target, codes_of(target, draw, 1, 3)[0], 0.5)
    found = [target.case("nonfinite_w", join(target.weights, f), x, "nonfinite", note="the other rows are finite")]
    if target.x == "q8_k":
        f = random_fields(draw, target.weights, (ROWS, 3))
        ladder = np.ldexp(F32(1), np.arange(ROWS) - 8).astype(F32)[:, None]
        f.d, f.m = np.broadcast_to(ladder, (ROWS, 3)), None if f.m is None else np.broadcast_to(ladder, (ROWS, 3))
        x = rows_like(target, codes_of(target, draw, 1, 3)[0], 2.0**112)
        found.append(target.case("maximal", join(target.weights, f), x, "maximal",
                                 note="sums, then products of scales pass FLT_MAX as the rows' scales double"))
        x = rows_like(target, codes_of(target, draw, 1, 3)[0], F32([0.5, np.nan, 0.5]))
        found.append(target.case("nan_x", random_blocks(draw, target.weights, (ROWS, 3)), x, "nonfinite"))
    return found


@quiet
def truncated(parts: dots.Parts) -> np.ndarray:
    """The canonical order with every rounding toward zero."""
    def cut(value: np.ndarray) -> np.ndarray:
        near = value.astype(F32)
        return np.where(np.abs(near.astype(np.float64)) > np.abs(value), np.nextafter(near, F32(0)), near)

    acc = np.zeros(parts.first.shape[:-1], np.float64)
    for b in range(parts.first.shape[-1]):
        for scales, whole in parts.terms():
            d = cut(np.broadcast_to(scales, whole.shape)[..., b]).astype(np.float64)
            product = d * cut(whole[..., b].astype(np.float64)).astype(np.float64)
            near = fma32(d, cut(whole[..., b].astype(np.float64)), acc)
            over = np.abs(near.astype(np.float64)) > np.abs(product + acc)
            acc = np.where(over, np.nextafter(near, F32(0)), near).astype(np.float64)
    return acc


@quiet
def truncation(target: Target) -> Case:
    """One block a row, picked among thousands: truncated anywhere, the sums leave the bound."""
    draw = target.draw("truncation")
    code = codes_of(target, draw, 1, 1)[0]
    d_x = 1 + 1 / 3 if target.x == "q8_k" else 1.3330078125
    x = activation_codes(target.x, code[None], d_x)
    w = random_blocks(draw, target.weights, (6000, 1), -6, 0)
    if target.form.has_minimum or target.form.has_offset:
        low = random_fields(draw, target.weights, (6000, 1), -6, 0)
        low.m = half_scales(draw, (6000, 1), -20, -12)
        w = join(target.weights, low)
    parts = dots.integer_parts(w, x)
    limit, _ = dots.bound(parts, target.weights)
    excess = (np.abs(truncated(parts) - dots.truth(parts)) / limit)[0]
    best = np.argsort(-excess, kind="stable")[:ROWS]
    assert excess[best[ROWS // 2]] > 1, (target.name, excess[best])
    return target.case("truncation", w[np.sort(best)], rows_like(target, code, d_x), "rounding",
                       note="sums that leave the bound if truncated")


def data_sets(target: Target) -> list[Case]:
    draw = target.draw("data")
    offset = 5 if target.form.elements == 256 else 11
    m = 3 if target.gemm else 1
    wide = random_blocks(draw, target.weights, (ROWS, offset), -14, 14)
    found = [target.case("wide", wide, target.activations(draw, m, offset, "wide", low=-10, high=10)),
             target.case("positive_x", random_blocks(draw, target.weights, (ROWS, offset)),
                         target.activations(draw, m, offset, "positive")),
             target.case("sparse_x", random_blocks(draw, target.weights, (ROWS, offset)),
                         target.activations(draw, m, offset, "mixed_zero"))]
    return [*found, *extremes(target), cancelling(target), small_onto_large(target), sparse(target),
            *(last_block(target, b) for b in (2, 3, 5, 8)), *past_13_bits(target), *past_24_bits(target), *minimum_only(target),
            *small_scales(target),
            *zeros(target), *nonfinite(target), truncation(target)]
