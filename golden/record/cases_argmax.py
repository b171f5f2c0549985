"""argmax."""
from __future__ import annotations

import numpy as np
import torch

from fma32 import F32
from generate import Draw, Generated
from real import Real
from schema import Case, Op, Output

LENGTHS = (2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 1000)


def make(name: str, x: np.ndarray | Generated, tags: str = "", status: str = "ok", note: str = "") -> Case:
    return Case(name, {"n": x.shape[0]}, {"x": x}, tags, status, note)


def evaluate(case: Case) -> None:
    """By a plain scan; PyTorch's maximum gives the opinion, whose first place is looked up."""
    x = case.tensor("x")
    best = 0
    for i, value in enumerate(x.tolist()):
        if value > x[best]:
            best = i
    wide = torch.from_numpy(x.astype(np.float64))
    opinion = torch.nonzero(wide == wide.max())[0].numpy().astype(np.int32)
    case.outputs["index"] = Output(np.array([best], np.int32), opinion=opinion)


def with_top(draw: Draw, n: int, *places: int, top: float = 100.0) -> np.ndarray:
    x = draw.array("gauss", (n,))
    x[list(places)] = top
    return x


def cases(real: Real) -> list[Case]:
    draw = Draw("argmax")
    # The top lies in the last elements, and a second time before a vector's end.
    found = [make(f"n{n}", with_top(draw, n, n - 1), "tail") for n in LENGTHS]
    found += [make(f"tie_n{n}_at_{a}_{b}", with_top(draw, n, a, b), "ties", note="the first wins")
              for n, a, b in ((16, 3, 11), (33, 1, 32), (40, 17, 33), (64, 15, 16), (100, 31, 96), (257, 9, 255),
                              (20, 18, 19))]
    zeros = np.full(37, -1, F32)
    zeros[[5, 9, 20]] = [-0.0, 0.0, 0.0]
    tiny = np.zeros(50, F32)
    tiny[[30, 40]] = [2.0**-149, 2.0**-140]
    negative_tiny = np.full(50, -(2.0**-140), F32)
    negative_tiny[23] = -(2.0**-149)
    infinite = with_top(draw, 41, 22, 35, top=np.inf)
    found += [
        make("n1", F32([3]), "trivial"),
        make("equal", np.full(33, 2.5, F32), "trivial", note="all tie: the first"),
        make("zeros", np.zeros(40, F32), "trivial"),
        make("all_minus_infinite", np.full(20, -np.inf, F32), "trivial"),
        make("first", with_top(draw, 65, 0, 64), "trivial ties"),
        make("negative_zero_first", zeros, "ties", note="-0 equals +0"),
        make("negative", -draw.array("positive", (97,)) - F32(1), note="a start at 0 would find nothing"),
        make("denormal", tiny, "denormal", note="a denormal is above zero"),
        make("denormal_negative", negative_tiny, "denormal"),
        make("one_ulp", np.where(np.arange(70) == 44, F32(1) + F32(2.0**-23), F32(1)), "ties"),
        make("wide", draw.input("wide", (1000,), low=-100, high=100)),
        make("infinite", infinite, "nonfinite ties"),
        make("last_above_minus_infinite", np.append(np.full(64, -np.inf, F32), F32(-3e38)), "nonfinite tail"),
        make("maximal", F32([-3.4028235e38] * 18 + [3.4028235e38, 3.4028233e38, 3.4028235e38]), "maximal ties"),
        make("ascending", np.arange(-50, 51, dtype=F32)),
        make("qwen3_vocab", draw.input("uniform", (151936,)), "large"),
        make("n0", np.zeros(0, F32), "refused", "bad_shape"),
    ]
    for n, place in ((1, 0), (17, 0), (17, 16), (40, 23), (100, 20), (257, 63), (257, 256)):
        found.append(make(f"nan_n{n}_at_{place}", with_top(draw, n, place, top=np.nan), "refused", "not_finite"))
    for sign, bits in (("negative", 0xFFC00000), ("signalling", 0x7F800001), ("negative_signalling", 0xFF800001)):
        for n, place in ((40, 23), (100, 20), (257, 256)):
            x = with_top(Draw(f"argmax/{sign}/{n}"), n, 1)
            x.view(np.uint32)[place] = bits
            found.append(make(f"{sign}_nan_n{n}_at_{place}", x, "refused", "not_finite"))
    both = with_top(draw, 33, 4, top=np.inf)
    both[30] = np.nan
    found.append(make("nan_after_infinity", both, "refused", "not_finite"))
    for prompt in ("genesis", "psalm"):
        found.append(make(f"kjv_{prompt}_logits", real.site("lm_head", prompt)[-1], "real"))
    return found


OPS = {"argmax": Op(cases, evaluate)}
