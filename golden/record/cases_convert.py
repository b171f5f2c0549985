"""The conversions between f32, f16 and bf16: exact, so the truth is the bytes."""
from __future__ import annotations

import numpy as np
import torch

from fma32 import F32, quiet
from formats import Bf16, Tensor, bf16_bits_to_f32, f16_bits_to_f32, from_f32, to_f32
from generate import Draw, Generated
from real import Real
from schema import Case, Op, Output

LENGTHS = (1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65)
TORCH_TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}
DROPPED_BITS = {"f16": 13, "bf16": 16}  # of f32's mantissa, for normal results


def make(name: str, src: Tensor | Generated, tags: str = "", note: str = "") -> Case:
    return Case(name, {"n": int(np.prod(src.shape))}, {"src": src}, tags, note=note)


def as_torch(tensor: Tensor) -> torch.Tensor:
    if isinstance(tensor, Bf16):
        return torch.from_numpy(tensor.bits.astype(np.uint16).view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(np.array(tensor))


def evaluate_to(dtype: str):
    """The evaluation of a conversion to `dtype`."""
    @quiet
    def evaluate(case: Case) -> None:
        src = case.tensor("src")
        converted = from_f32(src, dtype) if dtype != "f32" else to_f32(src)
        opinion = as_torch(src).to(TORCH_TYPES[dtype]).to(torch.float32).numpy()
        case.outputs["dst"] = Output(converted, opinion=opinion)
    return evaluate


def edges(dropped: int) -> np.ndarray:
    """Every sign and exponent with the mantissas where rounding can go wrong: around each half, tie and carry."""
    unit = 1 << dropped
    near = [base + delta for base in (0, unit // 2, unit, unit + unit // 2, 1 << 22, (1 << 23) - unit,
                                      (1 << 23) - unit // 2)
            for delta in (-1, 0, 1)]
    mantissas = np.array(sorted({m for m in [*near, (1 << 23) - 1] if 0 <= m < 1 << 23}), np.uint32)
    tops = np.arange(512, dtype=np.uint32) << np.uint32(23)
    return (tops[:, None] | mantissas).reshape(-1).view(F32)


def midpoints(dtype: str) -> np.ndarray:
    """Halfway between each pair of finite neighbours, signs in turn; the last lies halfway to what overflows."""
    top = 0x7C00 if dtype == "f16" else 0x7F80
    bits = np.arange(top, dtype=np.uint16)
    low = (f16_bits_to_f32(bits) if dtype == "f16" else bf16_bits_to_f32(bits)).astype(np.float64)
    high = np.append(low[1:], 2 * low[-1] - low[-2])
    return (np.where(np.arange(top) % 2 == 0, 1, -1) * (low + high) / 2).astype(F32)


def narrowing(dtype: str):
    """The cases of f32 -> dtype."""
    def cases(real: Real) -> list[Case]:
        draw = Draw(f"convert_f32_{dtype}")
        found = [make(f"n{n}", draw.input("gauss", (n,))) for n in LENGTHS]
        payloads = (np.uint32([0x7F800001, 0x7FC00000, 0x7F801FFF, 0x7FA02000, 0x7FFFFFFF])[:, None] +
                    np.arange(3, dtype=np.uint32) | np.uint32([[0], [1 << 31], [0], [1 << 31], [0]])).reshape(-1)
        tiny = draw.array("wide", (1024,), low=-27, high=-13)
        return found + [
            make("n0", np.zeros(0, F32), "trivial"),
            make("zeros", np.zeros(17, F32), "trivial"),
            make("signed_zeros", F32([0, -0.0] * 17)),
            make("mixed_zero", draw.input("mixed_zero", (97,))),
            make("edges", edges(DROPPED_BITS[dtype]), "ties nonfinite denormal",
                 "each sign and exponent with the mantissas beside a step, a tie and a carry"),
            make("midpoints", midpoints(dtype), "ties denormal maximal"),
            make("near_midpoints", np.nextafter(midpoints(dtype)[::7], F32(np.inf)), "denormal"),
            make("wide", draw.input("wide", (4096,), low=-30, high=20), "denormal"),
            make("small", tiny, "denormal", "around half's denormals"),
            make("denormal", draw.input("denormal", (512,)), "denormal", "in f16 all become signed zeros"),
            make("overflow_edge", F32([65504, 65519.996, 65520, 65536, -65519.996, -65520, 3.3895314e38, 3.3961775e38,
                                       3.4028235e38, -3.4028235e38]), "maximal"),
            make("nan_payloads", payloads.view(F32), "nonfinite", "quiet, signalling, payload only in the low bits"),
            make("bits", draw.input("bits", (4096,)), "nonfinite"),
            make("kjv_layer0_q_norm", real.at(0, "q_norm")[-1].reshape(-1), "real"),
            make("kjv_layer5_swiglu", real.at(5, "swiglu")[-1].reshape(-1), "real"),
        ]
    return cases


def widening(dtype: str):
    """The cases of dtype -> f32."""
    def cases(real: Real) -> list[Case]:
        draw = Draw(f"convert_{dtype}_f32")
        found = [make(f"n{n}", draw.input("gauss", (n,), dtype)) for n in LENGTHS]
        every = np.arange(65536, dtype=np.uint16)
        none = np.zeros(0, np.uint16)
        weight = real.layer(0, "self_attn.q_proj")
        row = Bf16(weight.bits[3].copy()) if dtype == "bf16" else from_f32(to_f32(weight)[3], dtype)
        return found + [
            make("n0", Bf16(none) if dtype == "bf16" else none.view(np.float16), "trivial"),
            make("every", Bf16(every) if dtype == "bf16" else every.view(np.float16), "nonfinite denormal",
                 "all 65536"),
            make("zeros", draw.input("zeros", (33,), dtype), "trivial"),
            make("denormal", draw.input("denormal", (257,), dtype), "denormal"),
            make("bits", draw.input("bits", (1021,), dtype), "nonfinite"),
            make("kjv_layer0_q_proj_row", row, "real"),
        ]
    return cases


OPS = {f"convert_f32_{d}": Op(narrowing(d), evaluate_to(d)) for d in ("f16", "bf16")}
OPS |= {f"convert_{d}_f32": Op(widening(d), evaluate_to("f32")) for d in ("f16", "bf16")}
