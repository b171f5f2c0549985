"""rope_table: sine and cosine of each recipe's own angle."""
from __future__ import annotations

import numpy as np
import torch

import truth
from bounds import ulp32
from fma32 import F32, quiet
from generate import Draw, Generated
from real import Real
from schema import Case, Op, Output

#         rows, pairs, gap
SHAPES = [(1, 1, 0), (3, 3, 0), (2, 4, 0), (4, 7, 1), (2, 8, 0), (3, 9, 0), (1, 15, 0), (2, 16, 0), (3, 17, 7),
          (2, 31, 0), (1, 32, 0), (2, 33, 0), (2, 40, 8), (2, 64, 0), (1, 65, 0)]
FAR = np.int32([0, 1, 2, 15, 255, 4097, 32767, 40959, 262143])
SAFE = 2.0**-50  # relative distance from a tie below which the rounded bits are not promised
# Angles below pi/4 whose cosine (five) or sine (ten) lies 2^-47 to 2^-41 from a tie between two floats, on either side: the nearest
# of all floats from 0.74 on. A series with a term too few puts them on the other side.
NEAR_TIES = [float.fromhex(angle) for angle in (
    "0x1.894b14p-1", "0x1.821cc6p-1", "0x1.7d2a48p-1", "0x1.8c8b3ap-1", "0x1.8bbf96p-1",
    "0x1.91b9d4p-1", "0x1.89f590p-1", "0x1.86f77ap-1", "0x1.7cd7fap-1", "0x1.920b76p-1",
    "0x1.869312p-1", "0x1.8bfa1ep-1", "0x1.8035c2p-1", "0x1.920100p-1", "0x1.8f25eap-1")]


def power_f32(theta: float, exponent: float) -> np.float32:
    """theta^exponent rounded to fp32, the same whether fp64 lies between or not."""
    near = {F32(truth.power(theta, exponent * nudge)) for nudge in (1 - 2.0**-51, 1, 1 + 2.0**-51)}
    assert len(near) == 1, (theta, exponent)
    return near.pop()


def angles(recipe: str, positions: np.ndarray, pairs: int, theta: float, inv_freq: np.ndarray | None) -> np.ndarray:
    """The angle of pair i at each position, [rows, pairs], its bits as kernels/rope/rope.h says."""
    d = 2 * pairs
    wide, single = positions.astype(np.float64)[:, None], positions.astype(F32)[:, None]
    if recipe == "f64":
        return wide * np.array([truth.power(theta, -2 * i / d) for i in range(pairs)])
    if recipe == "hf":
        powers = np.array([truth.power(theta, float(F32(2 * i / d))) for i in range(pairs)])
        return (single * (F32(1) / powers.astype(F32))).astype(np.float64)
    if recipe == "freqs":
        return (single * inv_freq).astype(np.float64)
    assert recipe == "ggml", recipe
    ratio = power_f32(theta, -2 / d) if pairs > 1 else F32(1)
    columns = [single]
    for _ in range(pairs - 1):
        columns.append(columns[-1] * ratio)
    return np.concatenate(columns, axis=1).astype(np.float64)


@quiet
def rounded(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """f32 bits, and where they are beyond doubt: farther than 2^-50 |value| from a tie between two floats."""
    low = values * (1 - SAFE)
    high = values * (1 + SAFE)
    return values.astype(F32), low.astype(F32) == high.astype(F32)


@quiet
def evaluate(case: Case) -> None:
    positions, p = case.tensor("positions"), case.params
    angle = angles(p["recipe"], positions, p["pairs"], p.get("theta", 0.0), case.inputs.get("inv_freq"))
    for name, function, opinion in (("cos", truth.cosine, torch.cos), ("sin", truth.sine, torch.sin)):
        y = function(angle)
        y = np.where(y == 0, angle, y)  # the sine of -0 is -0; mpmath knows none
        bits, sure = rounded(y)
        assert sure.all(), f"{case.name}: {name} lies on a tie; choose other positions"
        case.outputs[name] = Output(y, canonical=bits, bound=ulp32(y) / 2 + SAFE * np.abs(y),
                                    opinion=opinion(torch.from_numpy(angle)).numpy(),
                                    opinion_scale=np.maximum(np.abs(y), 1e-5))


def make(name: str, recipe: str, positions: np.ndarray | Generated, pairs: int, theta: float = 1e6, tags: str = "",
         inv_freq: np.ndarray | None = None, gap: int = 0, status: str = "ok", note: str = "") -> Case:
    params = {"rows": positions.shape[0], "pairs": pairs, "recipe": recipe}
    params |= {"table_stride": pairs + gap} if gap else {}
    inputs: dict[str, np.ndarray] = {"positions": positions}
    if recipe == "freqs":
        inputs["inv_freq"] = inv_freq
    else:
        params["theta"] = float(theta)
    return Case(name, params, inputs, tags, status, note)


def shapes() -> list[Case]:
    found = []
    for number, (rows, pairs, gap) in enumerate(SHAPES):
        draw = Draw(f"rope_table/shape/{rows}/{pairs}")
        recipe = ("f64", "hf", "ggml", "freqs")[number % 4]
        positions = draw.array("index", (rows,), "i32", low=0, high=32768)
        found.append(make(f"{recipe}_rows{rows}_pairs{pairs}", recipe, positions, pairs, gap=gap,
                          inv_freq=np.abs(draw.array("uniform", (pairs,)))))
    for recipe in ("f64", "hf", "ggml"):
        for pairs, theta in ((64, 1e6), (40, 1e4), (16, 5e6)):
            found.append(make(f"{recipe}_theta{theta:.0f}_pairs{pairs}", recipe, FAR, pairs, theta))
        found.append(make(f"{recipe}_theta1", recipe, FAR, 5, 1.0, note="every angle is the position"))
        found.append(make(f"{recipe}_theta2^40", recipe, FAR, 9, 2.0**40))
        found.append(make(f"{recipe}_theta_not_round", recipe, FAR, 11, 123456.789))
    return found


def edges() -> list[Case]:
    draw = Draw("rope_table/edges")
    last = np.int32([2**24 - 1, 2**24 - 2, 2**23 + 1, 10**7])
    frequencies = F32([0.0, 1.0, -1.0, 16.0, -16.0, 1e-3, 2.0**-126, 2.0**-149, 1e-30, 0.5, np.pi, np.pi / 2, 3.1e-5])
    refused = {"negative": [0, -1], "2^24": [3, 2**24], "least": [-2**31], "last": [1, 2, 3, 2**31 - 1]}
    found = [
        make("rows0", "f64", np.zeros(0, np.int32), 8, tags="trivial"),
        make("pairs0", "f64", np.int32([1, 2]), 0, tags="trivial"),
        make("position0", "f64", np.int32([0]), 32, note="cos 1, sin 0"),
        make("sequence", "f64", draw.array("sequence", (33,), "i32", low=5), 16, 1e4),
        make("descending", "hf", np.int32([900, 77, 76, 3]), 8),
        make("repeated", "ggml", np.int32([4095] * 5), 8),
        *(make(f"{recipe}_last_positions", recipe, last, 12, note="up to 2^24 - 1")
          for recipe in ("f64", "hf", "ggml")),
        make("freqs_edges", "freqs", np.int32([1, 2, 3, 1000, 32767, 2**24 - 1]), len(frequencies),
             inv_freq=frequencies,
             tags="denormal"),
        make("freqs_near_half_pi", "freqs", np.int32([1, 3, 5, 7, 355, 710]), 1, inv_freq=F32([np.pi / 2]),
             note="cosines near zero: the reduction must keep its relative accuracy"),
        make("freqs_near_ties", "freqs", np.int32([1]), len(NEAR_TIES), inv_freq=F32(NEAR_TIES),
             note="cosines and sines beside ties: a series cut short rounds to the other side"),
        make("freqs_negative", "freqs", np.int32([0, 1, 7]), 11, inv_freq=F32([1, -1, 0.5, -0.5, 0.0, -0.0, -3, 3, -16, 2.0**-149, -(2.0**-149)]),
             tags="denormal", note="angles of -0, whose sine is -0"),
        make("near_multiples_of_pi", "f64",
             np.int32([22, 44, 355, 710, 103993, 104348, 208341, 312689, 833719, 1146408]), 1,
             note="positions beside multiples of pi: sines near zero"),
    ]
    found += [make(f"position_{name}", "f64", np.int32(at), 4, tags="refused", status="out_of_range")
              for name, at in refused.items()]
    found += [make(f"theta_{name}", recipe, np.int32([1, 2]), 4, theta, "refused", status="bad_parameter")
              for name, recipe, theta in (("half", "f64", 0.5), ("zero", "hf", 0.0), ("negative", "ggml", -1e4),
                                          ("nan", "f64", np.nan),
                                          ("infinite", "hf", np.inf), ("2^41", "ggml", 2.0**41))]
    return found


def cases(real: Real) -> list[Case]:
    theta, pairs = real.config["rope_parameters"]["rope_theta"], real.config["head_dim"] // 2
    found = shapes() + edges()
    for recipe in ("f64", "hf", "ggml"):
        found.append(make(f"kjv_{recipe}", recipe, real.positions("very_long"), pairs, theta, "real"))
    found.append(make("kjv_genesis", "f64", real.positions(), pairs, theta, "real"))
    inverse = F32(1) / np.array([truth.power(theta, i / pairs) for i in range(pairs)]).astype(F32)
    found.append(make("kjv_freqs", "freqs", real.positions("long"), pairs, tags="real", inv_freq=inverse))
    return found


OPS = {"rope_table": Op(cases, evaluate)}
