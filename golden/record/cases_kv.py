"""kv_store, kv_repack, kv_copy, logits_copy_to_position: values that are moved, so the truth is the bytes."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from fma32 import F32, quiet
from formats import Tensor, every_class, from_f32, to_f32
from generate import Draw
from real import Real
from schema import Case, Op, Output

#          tokens, n_kv, head_dim, padded, capacity, position
STORES = [(1, 1, 1, 1, 1, 0), (1, 2, 64, 64, 40, 7), (1, 2, 80, 96, 20, 19), (1, 3, 80, 128, 9, 0),
          (5, 2, 16, 16, 33, 11), (7, 2, 17, 32, 7, 0), (16, 3, 33, 33, 33, 17), (3, 1, 128, 128, 16, 13), (4, 8, 128, 128, 12, 3),
          (2, 2, 256, 256, 5, 2), (9, 2, 7, 8, 100, 91), (2, 5, 15, 16, 6, 4), (33, 2, 31, 32, 64, 16),
          (3, 2, 100, 112, 8, 1)]
#           n_kv, row, positions, from, to
REPACKS = [(1, 1, 1, 1, 2), (2, 16, 5, 5, 12), (3, 8, 7, 10, 8), (2, 96, 4, 16, 32), (2, 96, 4, 32, 16),
           (4, 33, 9, 9, 9), (5, 17, 3, 4, 3), (8, 128, 2, 2, 3), (3, 64, 15, 16, 17), (3, 64, 15, 17, 16), (2, 7, 31, 33, 31),
           (4, 5, 1, 20, 3), (6, 3, 12, 12, 40), (2, 31, 10, 13, 10), (2, 1, 17, 17, 18), (2, 1, 17, 18, 17)]
#          n_kv, positions, head_dim, src row, src head, dst row, dst head
COPIES = [(1, 1, 1, 1, 1, 1, 1), (2, 5, 16, 16, 160, 16, 80), (2, 5, 16, 16, 80, 16, 256), (3, 7, 80, 96, 700, 80, 560),
          (3, 7, 80, 80, 560, 128, 1000), (2, 9, 33, 40, 360, 36, 400), (4, 3, 64, 256, 64, 64, 200),
          (8, 2, 128, 128, 256, 128, 512), (2, 16, 7, 7, 112, 8, 128), (5, 1, 31, 31, 31, 32, 32), (3, 20, 15, 16, 320, 15, 600)]
#         vocab, positions, position, stride
LOGITS = [(1, 1, 0, 1), (33, 4, 3, 33), (33, 4, 0, 40), (100, 7, 2, 128), (1000, 3, 1, 1000), (4067, 5, 4, 4096),
          (15, 2, 1, 16)]
HALVES = [0, -0.0, 1, 65504, 65519.996, 65520, 65536, 1e30, -65520, 2.0**-24, 2.0**-25, 2.0**-25 * 1.0001, 3 * 2.0**-25,
          2.0**-14, 2.0**-14 - 2.0**-26, 1 + 2.0**-11, 1 + 3 * 2.0**-11, -1 - 2.0**-11, np.inf, -np.inf, np.nan,
          -2.0**-149, 2049, 2051]


def as_torch(tensor: np.ndarray) -> torch.Tensor:
    """Bits as integers, so that PyTorch moves every NaN unchanged."""
    return torch.from_numpy(np.array(tensor.view(np.int16 if tensor.itemsize == 2 else np.int32)))


def store(name: str, src: Tensor, padded: int, capacity: int, position: int, tags: str = "", status: str = "ok",
          note: str = "", **strides: int) -> Case:
    tokens, n_kv, head_dim = src.shape
    params = {"tokens": tokens, "n_kv": n_kv, "head_dim": head_dim, "head_dim_padded": padded, "capacity": capacity,
              "position": position}
    return Case(name, params | strides, {"src": src}, tags, status, note)


def evaluate_store(dtype: str) -> Callable[[Case], None]:
    @quiet
    def evaluate(case: Case) -> None:
        src, padded = case.tensor("src"), case.params["head_dim_padded"]
        tokens, n_kv, head_dim = src.shape
        full = np.zeros((n_kv, tokens, padded), F32)
        full[..., :head_dim] = src.swapaxes(0, 1)
        moved = torch.nn.functional.pad(torch.from_numpy(np.array(src)).permute(1, 0, 2), (0, padded - head_dim))
        opinion = moved.to(torch.float16 if dtype == "f16" else torch.float32).to(torch.float32).contiguous().numpy()
        case.outputs["dst"] = Output(from_f32(full, dtype), opinion=opinion)
    return evaluate


def store_cases(dtype: str) -> Callable[[Real], list[Case]]:
    def cases(real: Real) -> list[Case]:
        found = []
        for tokens, n_kv, head_dim, padded, capacity, position in STORES:
            src = Draw(f"kv_store_{dtype}/{tokens}/{n_kv}/{head_dim}/{padded}").input("gauss", (tokens, n_kv, head_dim))
            name = f"tokens{tokens}_heads{n_kv}_dim{head_dim}_in{padded}_at{position}_of{capacity}"
            found.append(store(name, src, padded, capacity, position))
        draw = Draw(f"kv_store_{dtype}/data")
        some, halves = draw.array("gauss", (3, 2, 16)), np.array(HALVES, F32).reshape(2, 2, 6)
        half_ties = (draw.array("index", (2, 2, 64), "i32", low=1024, high=2048).astype(F32) + F32(0.5)) * F32(2.0**-10)
        refused = {"negative": (16, 16, -1), "full": (16, 16, 14), "far": (16, 16, 2**40), "least": (16, 16, -2**63),
                   "most": (16, 16, 2**63 - 1), "small": (16, 2, 0)}
        return found + [
            store("src_strides", some, 32, 9, 4, src_head_stride=24, src_row_stride=60),
            store("src_head_major", draw.array("gauss", (4, 3, 8)), 8, 16, 5, src_head_stride=8, src_row_stride=24),
            store("tokens0", some[:0], 16, 8, 8, "trivial"), store("heads0", some[:, :0], 16, 8, 2, "trivial"),
            store("dim0", some[..., :0], 0, 8, 2, "trivial"),
            store("last_rows", some, 16, 16, 13, "tail"),
            store("range", halves, 8, 4, 1, "overflow nonfinite", note="around the largest and least halves"),
            store("ties", half_ties, 64, 4, 1, "ties", note="halfway between two halves"),
            store("bits", draw.input("bits", (4, 3, 65)), 80, 6, 2, "nonfinite"),
            store("every_class", every_class("f32", (3, 2, 67)), 80, 6, 1, "nonfinite",
                  note="-0, signalling NaNs, NaNs with their sign set"),
            store("denormal", draw.input("denormal", (2, 2, 33)), 48, 4, 1, "denormal"),
            store("prefill_block", draw.input("gauss", (64, 2, 128)), 128, 256, 100),
            *(store(f"refused_{name}", some, padded, capacity, position, "refused", "out_of_range")
              for name, (padded, capacity, position) in refused.items()),
            store("refused_padding", some, 15, 16, 0, "refused", "bad_shape"),
            store("kjv_layer0_k", real.at(0, "k_rope"), 128, 64, 0, "real"),
        ]
    return cases


def repack(name: str, data: Tensor, n_kv: int, positions: int, source: int, target: int, tags: str = "",
           status: str = "ok") -> Case:
    params = {"n_kv": n_kv, "row": data.shape[1], "positions": positions, "capacity_src": source,
              "capacity_dst": target}
    return Case(name, params, {"data": data}, tags, status)


def evaluate_repack(case: Case) -> None:
    p, data = case.params, case.tensor("data")
    n_kv, kept, source, target = (p[key] for key in ("n_kv", "positions", "capacity_src", "capacity_dst"))
    after = data.copy()
    after[:n_kv * target] = 0
    for h in range(n_kv):
        after[h * target:h * target + kept] = data[h * source:h * source + kept]
    moved = as_torch(data)[:n_kv * source].reshape(n_kv, source, p["row"])[:, :kept]
    layout = torch.nn.functional.pad(moved, (0, 0, 0, target - kept)).reshape(n_kv * target, p["row"])
    opinion = torch.cat([layout, as_torch(data)[n_kv * target:]]).numpy().view(data.dtype)
    case.outputs["data"] = Output(after, opinion=to_f32(opinion))


def repack_cases(dtype: str) -> Callable[[Real], list[Case]]:
    def cases(real: Real) -> list[Case]:
        del real
        found = []
        for n_kv, row, positions, source, target in REPACKS:
            draw = Draw(f"kv_repack_{dtype}/{n_kv}/{row}/{source}/{target}")
            data = draw.input("bits", (n_kv * max(source, target), row), dtype)
            found.append(repack(f"heads{n_kv}_row{row}_{positions}_of_{source}_to_{target}", data, n_kv, positions,
                                source, target, "bits"))
        draw = Draw(f"kv_repack_{dtype}/data")
        numbers = from_f32(np.arange(1, 1 + 3 * 6 * 4, dtype=F32).reshape(18, 4), dtype)
        large = draw.input("bits", (3 * 300, 33), dtype)
        empty = from_f32(np.ones((0, 4), F32), dtype)
        refused = {"negative": (-1, 4, 6), "past_source": (5, 4, 6), "past_target": (5, 6, 4), "far": (2**62, 4, 6)}
        return found + [
            repack("counted_grow", numbers, 3, 4, 4, 6), repack("counted_shrink", numbers, 3, 4, 6, 4),
            repack("positions0", numbers, 3, 0, 6, 4, "", "ok"), repack("overlapping_grow", numbers, 3, 5, 5, 6),
            repack("grow_256_to_300", large, 3, 256, 256, 300), repack("shrink_300_to_256", large, 3, 256, 300, 256),
            repack("every_class_grow", every_class(dtype, (12, 67)), 2, 3, 4, 6, "nonfinite"),
            repack("every_class_shrink", every_class(dtype, (12, 67)), 2, 3, 6, 4, "nonfinite"),
            repack("heads0", empty, 0, 3, 4, 6, "trivial"),
            repack("row0", from_f32(np.ones((12, 0), F32), dtype), 2, 3, 4, 6, "trivial"),
            *(repack(f"refused_{name}", numbers[:12], 2, *sizes, "refused", "out_of_range")
              for name, sizes in refused.items()),
        ]
    return cases


def copy(name: str, src: Tensor, tags: str = "", status: str = "ok", **strides: int) -> Case:
    n_kv, positions, head_dim = src.shape
    params = {"n_kv": n_kv, "positions": positions, "head_dim": head_dim}
    return Case(name, params | strides, {"src": src}, tags, status)


def evaluate_move(case: Case) -> None:
    src = case.tensor("src")
    moved = as_torch(src).clone().numpy().view(src.dtype)
    case.outputs["dst"] = Output(np.ascontiguousarray(src), opinion=to_f32(moved))


def copy_cases(dtype: str) -> Callable[[Real], list[Case]]:
    def cases(real: Real) -> list[Case]:
        del real
        found = []
        for n_kv, positions, head_dim, *strides in COPIES:
            draw = Draw(f"kv_copy_{dtype}/{n_kv}/{positions}/{head_dim}")
            src = draw.input("bits", (n_kv, positions, head_dim), dtype)
            names = ("src_row_stride", "src_head_stride", "dst_row_stride", "dst_head_stride")
            name = f"heads{n_kv}_{positions}_dim{head_dim}_{strides[0]}x{strides[1]}_to_{strides[2]}x{strides[3]}"
            found.append(copy(name, src, "bits", **dict(zip(names, strides))))
        draw = Draw(f"kv_copy_{dtype}/data")
        numbers = from_f32(np.arange(1, 1 + 2 * 3 * 4, dtype=F32).reshape(2, 3, 4), dtype)
        return found + [
            copy("counted", numbers, dst_head_stride=32, src_head_stride=20),
            copy("head_strides", draw.input("bits", (8, 40, 64), dtype), "bits", src_head_stride=64 * 64,
                 dst_head_stride=64 * 48),
            copy("every_class", every_class(dtype, (2, 3, 67)), "nonfinite"),
            copy("heads0", numbers[:0], "trivial"), copy("positions0", numbers[:, :0], "trivial"),
            copy("dim0", numbers[..., :0], "trivial"),
            copy("refused_source_row", numbers, "refused", "bad_shape", src_row_stride=3),
            copy("refused_target_row", numbers, "refused", "bad_shape", dst_row_stride=3),
        ]
    return cases


def logits(name: str, src: Tensor, positions: int, position: int, stride: int, tags: str = "",
           status: str = "ok") -> Case:
    params = {"vocab": src.shape[0], "positions": positions, "position": position, "dst_stride": stride}
    return Case(name, params, {"src": src}, tags, status)


def logits_cases(real: Real) -> list[Case]:
    found = []
    for vocab, positions, position, stride in LOGITS:
        src = Draw(f"logits_copy_to_position/{vocab}/{positions}").input("bits", (vocab,))
        name = f"vocab{vocab}_row{position}_of{positions}_stride{stride}"
        found.append(logits(name, src, positions, position, stride, "bits"))
    some = Draw("logits_copy_to_position/data").array("gauss", (20,))
    refused = {"negative": -1, "past": 4, "far": 2**62, "least": -2**63}
    return found + [
        logits("every_class", every_class("f32", (67,)), 4, 2, 70, "nonfinite"),
        logits("vocab0", some[:0], 3, 1, 8, "trivial"),
        *(logits(f"refused_{name}", some, 4, position, 20, "refused", "out_of_range")
          for name, position in refused.items()),
        logits("refused_none", some, 0, 0, 20, "refused", "out_of_range"),
        logits("refused_stride", some, 4, 1, 19, "refused", "bad_shape"),
        logits("kjv_genesis_logits", np.ascontiguousarray(real.site("lm_head")[-1]), 14, 13, 4096, "real"),
    ]


OPS = {f"kv_store_{d}": Op(store_cases(d), evaluate_store(d)) for d in ("f32", "f16")}
OPS |= {f"kv_repack_{d}": Op(repack_cases(d), evaluate_repack) for d in ("f32", "f16")}
OPS |= {f"kv_copy_{d}": Op(copy_cases(d), evaluate_move) for d in ("f32", "f16")}
OPS["logits_copy_to_position"] = Op(logits_cases, evaluate_move)
