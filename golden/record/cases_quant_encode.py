"""encode_* and quantize_*: what ggml's goldens lack. Bytes are the truth; they come from the definitions (quant.py)."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

import quant
from block_formats import FORMATS
from blocks import decode32
from fma32 import F32, quiet
from formats import Blocks, f16_bits_to_f32, f32_to_f16_bits, to_f32
from generate import Draw
from near_ties import encoder_ties, quantizer_ties
from real import Real
from schema import Case, Op, Output

ENCODERS = (*quant.CLOSED, *quant.K_FORMATS)
QUANTIZERS = ("q8_0", "q8_k")
# What a magnitude is divided by to give the scale; as f16, 65519.996 is still 65504, and 65520 is infinite.
SCALE_DIVISOR = {"q4_0": 8, "q4_1": 15, "q5_0": 16, "q5_1": 31, "q8_0": 127}


def encode_case(name: str, x: np.ndarray, tags: str = "", status: str = "ok", note: str = "") -> Case:
    return Case(name, {"n": x.size}, {"src": x.reshape(-1)}, tags, status, note)


def quantize_case(name: str, x: np.ndarray, tags: str = "", status: str = "ok", note: str = "", **strides: int) -> Case:
    return Case(name, {"rows": x.shape[0], "k": x.shape[1], **strides}, {"src": x}, tags, status, note)


def evaluate_encode(name: str) -> Callable[[Case], None]:
    def evaluate(case: Case) -> None:
        x = case.tensor("src")
        if name in quant.K_FORMATS:
            # Only data so small (or so empty) that zero is the best value there is: a search needs another's goldens.
            assert np.abs(x).max(initial=0) < 2.0**-30, case.name
            blocks = Blocks(np.zeros((x.size // 256, FORMATS[name].size), np.uint8), name)
            case.outputs["dst"] = Output(blocks, judged_by="weighted_error")
            case.parts["error"] = np.array([quant.weighted_error(x, np.zeros_like(x), name)])
            return
        blocks = quant.encode(name, x)
        assert blocks is not None, case.name
        case.outputs["dst"] = Output(blocks)
    return evaluate


def evaluate_quantize(name: str) -> Callable[[Case], None]:
    def evaluate(case: Case) -> None:
        blocks = quant.quantize(name, case.tensor("src"))
        assert blocks is not None, case.name
        case.outputs["dst"] = Output(blocks)
    return evaluate


def threshold(top: float) -> list[F32]:
    """Magnitudes around one where the reciprocal of the scale overflows, and the smallest there is."""
    middle = F32(top)
    return [F32(middle * F32(f)) for f in (0.5, 0.999)] + [np.nextafter(middle, F32(0)), middle,
            np.nextafter(middle, F32(1))] + [F32(middle * F32(f)) for f in (1.0001, 1.5, 4)] + [F32(2.0**-149)]


@quiet
def tiny(draw: Draw, name: str, elements: int, divisor: float) -> list[tuple[str, np.ndarray, str, str]]:
    """Blocks whose scale's reciprocal is infinite, just finite, or taken of a denormal: name, data, tags, note."""
    tops = threshold(divisor * 2.0**-128)
    unit = draw.array("uniform", (len(tops), elements))
    signs = np.where(np.arange(len(tops)) % 2 == 0, F32(1), F32(-1))
    rows = unit * F32(0.99) * np.abs(F32(tops))[:, None]
    rows[np.arange(len(tops)), draw.array("index", (len(tops),), "i32", low=0, high=elements)] = F32(tops) * signs
    if name in quant.OFFSET:
        rows[:, 5] = 0  # the range is what counts: from 0 to the top
        rows = np.abs(rows)
    small = draw.array("uniform", (3, elements), scale=1e-39)
    mixed = draw.array("gauss", (4, elements))
    mixed[1], mixed[3] = small[0], small[1] * F32(1e-3)
    zeros = "trivial denormal" if name in QUANTIZERS else "denormal"
    return [("reciprocal_overflow", rows.astype(F32), "denormal", "1/scale is infinite and counts as 0, or finite"),
            ("denormal", draw.array("denormal", (5, elements)), zeros, "all denormals"),
            ("tiny_beside_normal", mixed, "denormal", "the second and last block's reciprocals overflow")]


def shapes(name: str, elements: int) -> list[tuple[int, int]]:
    return [(1, 1), (1, 2), (2, 3), (3, 1), (5, 7), (1, 16), (2, 17), (1, 33)] if elements == 32 else [
        (1, 1), (1, 2), (2, 3), (3, 1), (1, 5), (2, 12)]


def refusals(draw: Draw, elements: int) -> list[tuple[str, np.ndarray, str]]:
    """Rows that must be refused: the bad value in the first, the middle and the last place."""
    found = []
    count = 4 * elements
    for label, value in (("nan", np.nan), ("inf", np.inf), ("minus_inf", -np.inf)):
        for at in (0, count // 2 + 3, count - 1):
            x = draw.array("gauss", (1, count))
            x[0, at] = value
            found.append((f"{label}_at_{at}", x, "nothing is written, the good blocks before it neither"))
    return found


def lengths(elements: int) -> list[int]:
    return [1, elements - 1, elements + 1, 2 * elements - 1, 3 * elements + elements // 2]


@quiet
def range_limits(draw: Draw, divisor: float, name: str) -> tuple[np.ndarray, list[tuple[str, np.ndarray]]]:
    """Blocks with the largest scale that f16 takes, and those just beyond."""
    fits, beyond = F32(divisor) * np.nextafter(F32(65520), F32(0)), F32(divisor) * F32(65520)
    good = draw.array("uniform", (3, 32), scale=3e5 if divisor > 1 else 1e4)
    good[:, 7] = np.array([fits, -fits, fits * F32(0.9999)])
    if name in quant.OFFSET:
        good = np.abs(good)
        good[:, 3] = 0
    refused = []
    for label, value in (("scale_over_f16", beyond), ("scale_under_f16", -beyond), ("maximal", F32(3.4028235e38))):
        x = draw.array("gauss", (2, 32))
        x[1, 9] = value
        refused.append((label, x))
    if name in quant.OFFSET:
        low = draw.array("uniform", (2, 32)) + F32(65600)
        refused.append(("minimum_over_f16", low))
        refused.append(("minimum_under_f16", -low))
        wide = draw.array("gauss", (2, 32))
        wide[0, [4, 20]] = F32([3.4e38, -3.4e38])
        refused.append(("range_overflows", wide))
    return good, refused


@quiet
def scale_ties(name: str) -> np.ndarray:
    """Blocks whose scale lies halfway between two halves, with even and odd neighbours, normal and denormal ones, of both signs; of the
    formats with a minimum that one does as well. A scale of 12 bits times the divisor is exact."""
    ties = F32([(2 * m + 1) * 2.0**e for e in (-11, -20, -25) for m in (1024, 1025, 1536, 2047)] + [2.0**-25, 3 * 2.0**-25, 5 * 2.0**-25])
    rows = np.resize(F32([0.25, -0.5, 0.125, 0.75, -0.375, 0.0625]), (2 * len(ties), 32))
    for row, d in zip(rows, np.concatenate([ties, -ties])):
        top = F32(SCALE_DIVISOR[name]) * d
        if name in quant.OFFSET:
            row[:] = d + np.abs(row) * np.abs(top)  # from d, a tie too, to d + |top|
            row[7], row[20] = d, d + np.abs(top)
        else:
            row *= np.abs(top)
            row[7] = top
    return rows


def signed_zeros(elements: int) -> np.ndarray:
    """Blocks of zeros of either sign, and one value among zeros."""
    rows = np.zeros((5, elements), F32)
    rows[0], rows[1, 1::2], rows[2, 0] = -0.0, -0.0, -0.0
    rows[3, [3, 17]], rows[4, [2, 30]] = [-0.0, 1.0], [-2.0, -0.0]
    return rows


def opposite_maxima(draw: Draw, elements: int) -> np.ndarray:
    """Blocks whose largest magnitude comes with both signs, in lanes, vectors and halves of either order."""
    places = [(0, 1), (1, 0), (0, elements - 1), (7, 8), (15, 16), (9, 17), (elements - 2, elements - 1),
              (elements // 2, 3), (6, elements // 2 + 5), (elements // 2 + 1, elements // 2)]
    x = draw.array("uniform", (2 * len(places), elements))
    for row, (plus, minus) in enumerate([*places, *((b, a) for a, b in places)]):
        x[row, plus], x[row, minus] = 1.75, -1.75
    return x


def encode_cases(name: str) -> Callable[[Real], list[Case]]:
    def cases(real: Real) -> list[Case]:
        draw, elements = Draw(f"encode_{name}"), FORMATS[name].elements
        found = [encode_case("n0", np.zeros(0, F32), "trivial")]
        found += [encode_case(f"bad_shape_n{n}", draw.array("gauss", (n,)), "refused", "bad_shape")
                  for n in lengths(elements)]
        found += [encode_case(label, x, "refused", "not_finite", note) for label, x, note in refusals(draw, elements)]
        if name in quant.K_FORMATS:
            huge = draw.array("gauss", (2, elements), scale=1e30)
            least = draw.array("uniform", (2, elements), scale=2.0**-31)
            return found + [
                encode_case("scale_over_f16", huge, "refused", "not_finite", "no f16 scale reaches such values"),
                encode_case("tiny", least * F32(2.0**-60), "trivial denormal", note="every f16 scale is too large"),
                encode_case("denormal", draw.array("denormal", (2, elements)), "trivial denormal"),
            ] + real_encode(real, name)
        found += [encode_case(f"rows{r}_blocks{b}", draw.array("gauss", (r, b * elements)))
                  for r, b in shapes(name, elements)]
        found += [encode_case(label, x, tags, note=note)
                  for label, x, tags, note in tiny(draw, name, elements, SCALE_DIVISOR[name])]
        good, refused = range_limits(draw, SCALE_DIVISOR[name], name)
        found.append(encode_case("scale_near_f16_limit", good, "maximal"))
        found += [encode_case(label, x, "refused", "not_finite") for label, x in refused]
        found.append(encode_case("signed_zeros", signed_zeros(elements)))
        if elements == 32:
            found.append(encode_case("scale_ties", scale_ties(name), "ties denormal", note="the scale lies halfway between two halves"))
        found.append(encode_case("opposite_maxima", opposite_maxima(draw, elements), "ties"))
        found.append(encode_case("near_ties", encoder_ties(name), "ties",
                                 note="a true division, an fma, another reciprocal or tie rule gives other codes"))
        if name == "q8_0":
            below = np.zeros((1, elements), F32)
            below[0, :4] = [127, 0.5 - 2.0**-25, -(0.5 - 2.0**-25), 0.5]
            found.append(encode_case("below_half", below, "ties", note="the float below 0.5: adding 0.5 makes 1 of it"))
        return found + real_encode(real, name)
    return cases


def quantize_cases(name: str) -> Callable[[Real], list[Case]]:
    def cases(real: Real) -> list[Case]:
        draw, elements = Draw(f"quantize_{name}"), FORMATS[name].elements
        found = [quantize_case(f"rows{r}_k{b * elements}", draw.array("gauss", (r, b * elements)))
                 for r, b in shapes(name, elements)]
        for r, b, src, dst in ((3, 2, 5, 0), (2, 3, 0, 2), (5, 1, 32, 1), (1, 2, 7, 3), (4, 4, 1, 1)):
            x = draw.array("gauss", (r, b * elements))
            strides = {"src_stride": b * elements + src} if src else {}
            strides |= {"dst_stride": b + dst} if dst else {}
            found.append(quantize_case(f"strides_{r}_{b}_{src}_{dst}", x, "strides", **strides))
        found += [quantize_case(f"rows{r}_k{k}", np.ones((r, k), F32), "trivial")
                  for r, k in ((0, elements), (3, 0))]
        found += [quantize_case(label, x, tags, note=note)
                  for label, x, tags, note in tiny(draw, name, elements, 127)]
        found += [quantize_case(f"bad_shape_k{k}", draw.array("gauss", (2, k)), "refused", "bad_shape")
                  for k in lengths(elements)]
        found += [quantize_case(label, x, "refused", "not_finite", note) for label, x, note in refusals(draw, elements)]
        strided = draw.array("gauss", (3, 2 * elements))
        strided[2, elements + 1] = np.nan
        found.append(quantize_case("nan_last_row_strides", strided, "refused", "not_finite",
                                   src_stride=2 * elements + 3, dst_stride=4))
        found.append(quantize_case("signed_zeros", signed_zeros(elements)))
        if elements == 32:
            found.append(quantize_case("scale_ties", scale_ties(name), "ties denormal", note="the scale lies halfway between two halves"))
        found.append(quantize_case("opposite_maxima", opposite_maxima(draw, elements), "ties"))
        found.append(quantize_case("near_ties_own", quantizer_ties(name), "ties",
                                   note="another reciprocal or tie rule gives other codes or scales"))
        if name == "q8_0":
            good, refused = range_limits(draw, 127, name)
            found.append(quantize_case("scale_near_f16_limit", good, "maximal"))
            found += [quantize_case(label, x, "refused", "not_finite") for label, x in refused]
        else:
            top = draw.array("uniform", (2, elements), scale=3e38)
            top[1, 100] = F32(-3.4028235e38)
            found.append(quantize_case("maximal", top, "maximal"))
        for site in ("attn_norm", "swiglu"):
            found.append(quantize_case(f"kjv_layer2_{site}", real.at(2, site)[-4:], "real", note="4 tokens"))
        return found
    return cases


REAL_ENCODE = {"q8_0": ("Q8_0", 0, "attn_q", "self_attn.q_proj"), "q4_k": ("Q4_K_M", 1, "attn_k", "self_attn.k_proj"),
               "q6_k": ("Q4_K_M", 2, "attn_v", "self_attn.v_proj")}


def real_encode(real: Real, name: str) -> list[Case]:
    """The trained model's weight, through f16 as in its GGUF file, whose quantised bytes are the golden."""
    if name not in REAL_ENCODE:
        weight = real.layer(1, "self_attn.k_proj")
        if name == "q5_k":
            return []
        return [encode_case("kjv_layer1_k_proj", to_f32(weight)[:64], "real", note="64 rows of the weight")]
    file, layer, tensor, weight = REAL_ENCODE[name]
    x = f16_bits_to_f32(f32_to_f16_bits(to_f32(real.layer(layer, weight))))[:128]
    blocks = real.gguf(file).tensor(f"blk.{layer}.{tensor}.weight")[:128]
    flat = Blocks(blocks.data.reshape(-1, blocks.data.shape[-1]), blocks.format)
    assert flat.format == name, (flat.format, name)
    case = encode_case(f"kjv_layer{layer}_{weight.split('.')[1]}", x, "real", note="128 rows; llama.cpp's blocks")
    case.source = f"kjv-{file}.gguf, written by llama.cpp's quantiser from the kjv model"
    if name in quant.K_FORMATS:
        case.outputs["dst"] = Output(flat, judged_by="weighted_error")
        case.parts["error"] = np.array([quant.weighted_error(x, decode32(flat), name)])
    else:
        case.outputs["dst"] = Output(flat, opinion=quant.encode(name, x.reshape(-1)))
    return [case]


OPS = {f"encode_{f}": Op(encode_cases(f), evaluate_encode(f)) for f in ENCODERS}
OPS |= {f"quantize_{f}": Op(quantize_cases(f), evaluate_quantize(f)) for f in QUANTIZERS}
