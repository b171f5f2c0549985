"""pack_tile, unpack_tile and embed: values that are moved, so the truth is the bytes."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from cases_convert import as_torch
from fma32 import F32, quiet
from formats import TILE, Bf16, Tensor, every_class, from_f32, pack_tiles, tile_rows, to_f32
from generate import Draw, Generated
from real import Real
from schema import Case, Op, Output

#         n, k, gap
SHAPES = [(1, 1, 0), (7, 3, 0), (8, 8, 0), (9, 7, 1), (15, 9, 0), (16, 17, 0), (17, 16, 0), (31, 33, 0), (32, 1, 0),
          (32, 64, 0), (33, 5, 0), (40, 31, 2), (63, 15, 0), (64, 32, 0), (65, 9, 7), (95, 2, 0), (97, 63, 0),
          (100, 50, 14), (3, 129, 0), (33, 65, 0), (5, 32, 0), (160, 10, 0)]
#               vocab, n, rows, gap
EMBED_SHAPES = [(1, 1, 1, 0), (5, 7, 3, 0), (9, 8, 4, 0), (10, 9, 2, 1), (6, 15, 5, 0), (4, 16, 9, 0), (20, 17, 3, 0),
                (8, 31, 2, 0), (7, 32, 6, 8), (12, 33, 4, 0), (3, 63, 7, 0), (5, 64, 3, 0), (6, 65, 2, 7),
                (11, 100, 5, 0), (40, 128, 4, 0)]


def moved_as_torch(tensor: Tensor) -> torch.Tensor:
    """Bits as integers, so that PyTorch moves every NaN unchanged."""
    return torch.from_numpy(np.array(tensor.view(np.int16 if tensor.itemsize == 2 else np.int32)))


@quiet
def evaluate_pack(case: Case) -> None:
    src = case.tensor("src")
    n, k = src.shape
    packed = pack_tiles(src)
    padded = torch.nn.functional.pad(moved_as_torch(src), (0, 0, 0, -n % TILE))
    opinion = padded.reshape(-(-n // TILE), TILE, k).permute(0, 2, 1).contiguous().numpy().view(src.dtype)
    case.outputs["dst"] = Output(packed, opinion=to_f32(opinion))


@quiet
def evaluate_unpack(case: Case) -> None:
    src, n = case.tensor("src"), case.params["n"]
    count, k, lanes = src.shape
    rows = np.ascontiguousarray(tile_rows(src, np.arange(n)))
    opinion = moved_as_torch(src).permute(0, 2, 1).reshape(count * lanes, k)[:n].contiguous().numpy().view(src.dtype)
    case.outputs["dst"] = Output(rows, opinion=to_f32(opinion))


def layout_case(name: str, op: str, data: Tensor | Generated, n: int, k: int, gap: int, tags: str,
                note: str = "") -> Case:
    stride = {("src_stride" if op == "pack" else "dst_stride"): k + gap} if gap else {}
    return Case(name, {"n": n, "k": k, **stride}, {"src": data}, tags, note=note)


def layout_cases(op: str, dtype: str) -> Callable[[Real], list[Case]]:
    """`op` is pack or unpack."""
    def shape(n: int, k: int) -> tuple[int, ...]:
        return (n, k) if op == "pack" else (-(-n // TILE), k, TILE)

    def cases(real: Real) -> list[Case]:
        found = []
        for n, k, gap in SHAPES:
            data = Draw(f"{op}_tile_{dtype}/{n}/{k}").input("bits", shape(n, k), dtype)
            found.append(layout_case(f"n{n}_k{k}" + (f"_stride{k + gap}" if gap else ""), op, data, n, k, gap, "bits"))
        draw = Draw(f"{op}_tile_{dtype}/data")
        for n, k in ((0, 5), (5, 0)):
            found.append(layout_case(f"n{n}_k{k}", op, from_f32(np.ones(shape(n, k), F32), dtype), n, k, 0, "trivial"))
        numbers = np.arange(1, 1 + int(np.prod(shape(40, 12))), dtype=F32).reshape(shape(40, 12))
        weight = from_f32(to_f32(real.layer(0, "self_attn.k_proj"))[:45, :100], dtype)
        return found + [
            layout_case("zeros", op, draw.input("zeros", shape(33, 8), dtype), 33, 8, 0, "trivial"),
            layout_case("counted", op, from_f32(numbers, dtype), 40, 12, 0, "",
                        "1, 2, 3 .. so that a failure reads well"),
            layout_case("gauss", op, draw.input("gauss", shape(70, 66), dtype), 70, 66, 0, ""),
            layout_case("every_class", op, every_class(dtype, shape(37, 67)), 37, 67, 0, "nonfinite",
                        "-0, signalling NaNs, NaNs with their sign set"),
            layout_case("n1030_k40", op, draw.input("uniform", shape(1030, 40), dtype), 1030, 40, 0, ""),
            layout_case("kjv_layer0_k_proj", op, weight if op == "pack" else pack_tiles(weight), 45, 100, 0, "real",
                        "45 rows, 100 columns of the weight"),
        ]
    return cases


@quiet
def evaluate_embed(case: Case) -> None:
    table, ids = case.tensor("table"), case.tensor("ids")
    y = to_f32(Bf16(table.bits[ids]) if isinstance(table, Bf16) else table[ids])
    opinion = as_torch(table)[torch.from_numpy(ids.astype(np.int64))].to(torch.float32).numpy()
    case.outputs["y"] = Output(np.ascontiguousarray(y), opinion=opinion)


def embed_case(name: str, table: Tensor | Generated, ids: np.ndarray, tags: str = "", status: str = "ok",
               note: str = "",
               **strides: int) -> Case:
    vocab, n = table.shape
    return Case(name, {"vocab": vocab, "rows": len(ids), "n": n, **strides},
                {"table": table, "ids": np.asarray(ids, np.int32)}, tags, status, note)


def embed_cases(dtype: str) -> Callable[[Real], list[Case]]:
    def cases(real: Real) -> list[Case]:
        found = []
        for vocab, n, rows, gap in EMBED_SHAPES:
            draw = Draw(f"embed_{dtype}/{vocab}/{n}/{rows}")
            ids = draw.array("index", (rows,), "i32", low=0, high=vocab)
            ids[-1] = vocab - 1
            found.append(embed_case(f"vocab{vocab}_n{n}_rows{rows}", draw.input("gauss", (vocab, n), dtype), ids,
                                    **({"y_stride": n + gap} if gap else {})))
        draw = Draw(f"embed_{dtype}/data")
        table = draw.input("gauss", (16, 40), dtype)
        refused = {"negative": [3, -1, 5], "vocab": [0, 16], "far": [2, 2**31 - 1], "least": [-2**31],
                   "last": [1, 2, 3, 16]}
        tokens = real.tokens()
        distinct, ids = np.unique(tokens, return_inverse=True)
        words = to_f32(real.weight("model.embed_tokens"))[distinct]
        return found + [
            embed_case("rows0", table, np.zeros(0, np.int32), "trivial"),
            embed_case("n0", from_f32(np.ones((4, 0), F32), dtype), [1, 2], "trivial"),
            embed_case("zeros", draw.input("zeros", (9, 33), dtype), [0, 4, 8], "trivial"),
            embed_case("first_and_last", table, [0, 15, 0, 15]),
            embed_case("repeated", table, [7] * 9),
            embed_case("descending", table, np.arange(15, -1, -1)),
            embed_case("denormal", draw.input("denormal", (8, 37), dtype), [5, 0, 7], "denormal"),
            embed_case("bits", draw.input("bits", (64, 65), dtype), [1, 63, 17, 0, 40], "nonfinite"),
            embed_case("every_class", every_class(dtype, (9, 67)), [0, 8, 3, 3, 5], "nonfinite",
                       note="-0, signalling NaNs, NaNs with their sign set"),
            embed_case("hidden1024", draw.input("uniform", (50, 1024), dtype), [49, 0, 31]),
            *(embed_case(f"id_{name}", table, ids, "refused", "out_of_range") for name, ids in refused.items()),
            embed_case("kjv_embed", from_f32(words, dtype), ids[:6], "real",
                       note="the prompt's distinct tokens' rows, numbered anew"),
        ]
    return cases


OPS = {f"{op}_tile_{d}": Op(layout_cases(op, d), evaluate_pack if op == "pack" else evaluate_unpack)
       for op in ("pack", "unpack") for d in ("f16", "f32")}
OPS |= {f"embed_{d}": Op(embed_cases(d), evaluate_embed) for d in ("f32", "f16", "bf16")}
