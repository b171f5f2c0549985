"""attn_decode and attn_prefill: the same scenes, seen by one query row or by several."""
from __future__ import annotations


import numpy as np

import bounds
from attention import Problem, one_query, opinion, problem
from attention_canonical import canonical
from attention_scenes import scenes
from fma32 import F32
from schema import Case, Op, Output

KEPT_HEADS = 2  # of a large case, whose truth is kept for some heads of its last row only
SHARP = 2.0**14  # the second opinion's fp64 is 2^29 times finer than the bound's fp32


def evaluate(case: Case) -> None:
    call = problem(case)
    rows, heads, head_dim = call.q.shape
    queries = [(r, h) for r in range(rows) for h in range(heads)]
    large = "large" in case.tags.split()
    if large:
        queries = [(rows - 1, h) for h in np.linspace(0, heads - 1, KEPT_HEADS).astype(int)]
    bits = canonical(call)
    fields: dict[str, list[np.ndarray]] = {name: [] for name in ("truth", "opinion", "bound", "bits_only", "canonical")}
    for row, head in queries:
        for name, value in one(call, row, head).items():
            fields[name].append(value)
        fields["canonical"].append(bits[row, head])
    shape = (-1,) if large else case.tensor("q").shape
    f = {name: np.array(values).reshape(shape) for name, values in fields.items()}
    index = np.concatenate([(r * heads + h) * head_dim + np.arange(head_dim) for r, h in queries]) if large else None
    case.outputs["y"] = Output(f["truth"], index, f["canonical"].astype(F32), f["bound"], f["bits_only"].astype(bool), f["opinion"],
                               np.maximum(np.abs(f["truth"]), f["bound"] * SHARP))


def one(call: Problem, row: int, head: int) -> dict[str, np.ndarray]:
    """What is known of one query's outputs."""
    q, kv = call.q[row, head], head // call.group
    position, k, v = call.keys(row, head)
    bound, bits_only = bounds.attention(q, k, v, call.scale, position)
    return {"truth": one_query(q, k, v, call.scale), "bound": bound, "bits_only": bits_only,
            "opinion": opinion(q, call.k[kv], call.v[kv], call.scale, call.seen[row])}


OPS = {f"attn_{kind}_{dtype}": Op((lambda k, d: lambda real: scenes(k, d, real))(kind, dtype), evaluate)
       for kind in ("decode", "prefill") for dtype in ("f32", "f16")}
