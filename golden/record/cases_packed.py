"""pack_* and unpack_* of sixteen interleaved rows: the byte map of kernels/formats/packed.h is the truth."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from block_formats import FORMATS
from formats import Blocks
from generate import Draw
from packed import FORMATS as PACKED
from packed import ROWS, pack, unpack
from real import Real
from schema import Case, Op, Output

#         rows, blocks of a row
SHAPES = [(1, 1), (2, 1), (15, 2), (16, 1), (16, 3), (17, 1), (31, 2), (32, 1), (33, 4), (48, 1), (5, 12), (100, 1)]
REAL = {"q4_k": ("Q4_K_M", "blk.1.attn_q.weight"), "q6_k": ("Q4_K_M", "blk.2.ffn_down.weight"),
        "q8_0": ("Q8_0", "blk.4.attn_v.weight")}


def make(op: str, name: str, rows: Blocks, tags: str = "", status: str = "ok", note: str = "", k: int | None = None,
         padding: np.ndarray | int = 0) -> Case:
    n, blocks = rows.shape
    src = rows if op == "pack" else pack(rows, padding)
    params = {"n": n, "k": blocks * FORMATS[rows.format].elements if k is None else k}
    return Case(name, params, {"src": src}, tags, status, note)


def evaluate_pack(case: Case) -> None:
    src = case.tensor("src")
    packed = pack(src)
    assert np.array_equal(unpack(packed, src.shape[0]).data, src.data)
    case.outputs["dst"] = Output(packed)


def evaluate_unpack(case: Case) -> None:
    case.outputs["dst"] = Output(unpack(case.tensor("src"), case.params["n"]))


def cases_of(op: str, name: str) -> Callable[[Real], list[Case]]:
    def cases(real: Real) -> list[Case]:
        draw, form = Draw(f"{op}_{name}_x16"), FORMATS[name]

        def bits(n: int, blocks: int) -> Blocks:
            return Blocks(draw.array("bits", (n, blocks, form.size), "u8"), name)

        found = [make(op, f"n{n}_blocks{b}", bits(n, b), "bits") for n, b in SHAPES]
        counted = np.arange(18 * 2 * form.size).reshape(18, 2, form.size) % 251 + 1
        found += [make(op, "counted", Blocks(counted.astype(np.uint8), name), note="bytes 1, 2 .. 251, 1 .."),
                  make(op, "zeros", Blocks(np.zeros((5, 2, form.size), np.uint8), name), "trivial"),
                  make(op, "n0", bits(0, 3), "trivial"), make(op, "k0", bits(3, 0), "trivial")]
        for k in (1, form.elements - 1, form.elements + 1, 5 * form.elements // 2):
            found.append(make(op, f"bad_shape_k{k}", bits(17, -(-k // form.elements)), "refused", "bad_shape", k=k))
        if op == "unpack":
            rubbish = draw.array("bits", (13, 2, form.size), "u8")
            found.append(make(op, "padding", bits(19, 2), "padding", note="the lanes past n hold numbers",
                              padding=rubbish))
        file, tensor = REAL[name]
        found.append(make(op, "kjv_weight", real.gguf(file).tensor(tensor)[:37], "real",
                          note=f"37 rows of {tensor}, kjv-{file}.gguf"))
        return found
    return cases


OPS = {f"{op}_{f}_x{ROWS}": Op(cases_of(op, f), evaluate_pack if op == "pack" else evaluate_unpack)
       for op in ("pack", "unpack") for f in PACKED}
