"""decode_*: special scales, every code, lengths. Truth: the exact value rounded once; scalar.py has the opinion."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

import scalar
from block_formats import FORMATS
from blocks import Fields, decode32, join
from fma32 import F32
from formats import Blocks, f16_bits_to_f32
from generate import Draw, Generated
from quant_data import half_scales, random_blocks, random_fields
from real import Real
from schema import Case, Op, Output

SPECIAL_HALVES = np.uint16([0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF,
                            0x7C00, 0xFC00, 0x7E00, 0xFE00, 0x7D01])
SPECIAL_FLOATS = np.uint32([0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x00800001, 0x3F800000, 0x3F7FFFFF,
                            0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x01FFFFFF, 0x03ABCDEF])
COUNTS = (1, 2, 3, 5, 8, 17)
REAL = {"q4_k": ("Q4_K_M", "blk.3.ffn_gate.weight"), "q6_k": ("Q4_K_M", "blk.2.ffn_down.weight"),
        "q8_0": ("Q8_0", "blk.4.attn_v.weight")}


def make(name: str, blocks: Blocks | Generated, tags: str = "", status: str = "ok", note: str = "",
         n: int | None = None) -> Case:
    """`blocks` [count]; n where it is not theirs."""
    form = FORMATS[blocks.dtype if isinstance(blocks, Generated) else blocks.format]
    count = blocks.shape[0] * form.elements
    return Case(name, {"n": count if n is None else n}, {"src": blocks}, tags, status, note)


def evaluate(case: Case) -> None:
    blocks = case.tensor("src")
    opinion = scalar.decode(blocks, FORMATS[blocks.format].elements).reshape(-1)
    case.outputs["dst"] = Output(decode32(blocks).reshape(-1), opinion=opinion)


def every_code(name: str) -> Blocks:
    """Codes in order, through all of them, scales in order too; d = 1, dmin = 1/64, m = -1/2."""
    form = FORMATS[name]
    low, high = form.codes if name != "q8_k" else (-128, 127)
    count = max(1, (high - low + 1) // form.elements) * (8 if form.subs > 1 else 1)
    q = (np.arange(count * form.elements) * (1 if form.subs == 1 else 7)) % (high - low + 1) + low
    fields = Fields(np.ones(count, F32), q.reshape(count, form.elements).astype(np.int32))
    places = np.arange(count * form.subs).reshape(count, form.subs)
    if form.has_minimum:
        fields.m, fields.scale, fields.minimum = np.full(count, F32(1 / 64)), places % 64, (63 - places) % 64
    elif form.subs > 1:
        fields.scale = places * 2 - 128
    elif form.has_offset:
        fields.m = np.full(count, F32(-0.5))
    return join(name, fields)


def special_scales(draw: Draw, name: str) -> Blocks:
    """Zeros, denormals, the largest, infinities and NaN as d, and again as dmin or m."""
    halves = f16_bits_to_f32(SPECIAL_HALVES) if name != "q8_k" else SPECIAL_FLOATS.view(F32)
    count = len(halves)
    twice = FORMATS[name].has_minimum or FORMATS[name].has_offset
    fields = random_fields(draw, name, (2 * count if twice else count,))
    fields.d[:count] = halves
    if twice:
        fields.m[count:] = halves
        fields.d[2 * count - 5:], fields.m[2 * count - 5:] = halves[-5:], halves[-5:]
    if fields.scale is not None:
        fields.scale[:, 1], fields.scale[:, 2] = 0, 63
    return join(name, fields)


def one_rounding(draw: Draw, name: str) -> Blocks:
    """Scale and minimum of like size, and far apart: the sum needs its rounding."""
    fields = random_fields(draw, name, (12,), -14, 14)
    fields.m[6:] = fields.d[6:] * F32(0.5)
    return join(name, fields)


def cases_of(name: str) -> Callable[[Real], list[Case]]:
    def cases(real: Real) -> list[Case]:
        draw, form = Draw(f"decode_{name}"), FORMATS[name]
        found = [make(f"blocks{c}", random_blocks(draw, name, (c,))) for c in COUNTS]
        found += [make("n0", random_blocks(draw, name, (0,)), "trivial"),
                  make("every_code", every_code(name), note="codes and scales in order"),
                  make("special_scales", special_scales(draw, name), "nonfinite denormal maximal"),
                  make("bits", Blocks(draw.array("bits", (24, form.size), "u8"), name), "nonfinite bits")]
        found += [make(f"generated_{distribution}", draw.recipe(distribution, (9,), name), tags)
                  for distribution, tags in (("blocks", ""), ("activations", ""), ("wide", ""),
                                             ("denormal", "denormal"),
                                             ("bits", "nonfinite bits"))]
        tiny = random_fields(draw, name, (4,))
        tiny.d = half_scales(draw, (4,), -24, -15) if name != "q8_k" else draw.array("denormal", (4,))
        found.append(make("denormal_scales", join(name, tiny), "denormal"))
        if form.has_minimum or form.has_offset:
            found.append(make("one_rounding", one_rounding(draw, name), "rounding"))
        for n in (1, form.elements - 1, form.elements + 1, 5 * form.elements // 2):
            blocks = random_blocks(draw, name, (-(-n // form.elements),))
            found.append(make(f"bad_shape_n{n}", blocks, "refused", "bad_shape", n=n))
        if name in REAL:
            file, tensor = REAL[name]
            rows = real.gguf(file).tensor(tensor)[:4]
            flat = Blocks(rows.data.reshape(-1, form.size), name)
            found.append(make(f"kjv_{tensor.removesuffix('.weight').replace('.', '_')}", flat, "real",
                              note=f"4 rows of kjv-{file}.gguf"))
        return found
    return cases


OPS = {f"decode_{f}": Op(cases_of(f), evaluate) for f in FORMATS}
