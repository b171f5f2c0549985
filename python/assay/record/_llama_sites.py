"""Nodes of llama.cpp's graph of a Qwen3 as sites.

One name serves several nodes, so a node is known by its name, its op and its first operand; what is neither is arithmetic between sites (norm-i before
its weight, kq, softmax, kqv) or none at all (views).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay._errors import AssayError
from assay.record._recording import Array, all_sites, layer_site

LAYER = {
    ("attn_norm", "MUL"): "attn_norm",
    ("Qcur", "MUL_MAT"): "q_proj",
    ("Qcur_normed", "MUL"): "q_norm",
    ("Qcur", "ROPE"): "q_rope",
    ("Kcur", "MUL_MAT"): "k_proj",
    ("Kcur_normed", "MUL"): "k_norm",
    ("Kcur", "ROPE"): "k_rope",
    ("Vcur", "MUL_MAT"): "v_proj",
    ("kqv_out", "CONT"): "attn",
    ("ffn_inp", "ADD"): "attn_residual",
    ("ffn_norm", "MUL"): "ffn_norm",
    ("ffn_gate", "MUL_MAT"): "gate_proj",
    ("ffn_up", "MUL_MAT"): "up_proj",
    ("ffn_swiglu", "GLU"): "swiglu",
    ("ffn_swiglu", "SWIGLU"): "swiglu",
    ("ffn_out", "MUL_MAT"): "down_proj",
    ("l_out", "ADD"): "ffn_residual",
}
WITH_HEADS = {"q_norm", "k_norm", "q_rope", "k_rope"}
WHOLE = {("embd", "GET_ROWS"): "embed", ("inp_embd", "GET_ROWS"): "embed", ("result_norm", "MUL"): "final_norm", ("result_output", "MUL_MAT"): "lm_head"}


@dataclass
class Node:
    """A node's values, of ggml's four dimensions, outermost first, and how the graph calls it."""

    name: str
    op: str
    src0: str
    values: Array


def site_of(node: Node) -> str | None:
    """Which site a node is; None: none. The o_proj has no name of its own: its weight tells it."""
    parts = node.src0.split(".")
    if node.op == "MUL_MAT" and parts[0] == "blk" and parts[2:] == ["attn_output", "weight"]:
        return layer_site(int(parts[1]), "o_proj")
    base, dash, layer = node.name.rpartition("-")
    if dash and layer.isdigit() and (base, node.op) in LAYER:
        return layer_site(int(layer), LAYER[base, node.op])
    return WHOLE.get((node.name, node.op))


def sites_of(nodes: Iterable[Node], layers: int, rows: int) -> dict[str, Array]:
    """Sites in execution order, lm_head left out. Raises AssayError where one is missing, is there twice or lacks rows."""
    found: dict[str, Array] = {}
    for node in nodes:
        site = site_of(node)
        if site is None or site == "lm_head":
            continue
        if site in found:
            raise AssayError(f"site {site} twice, again as {node.name} {node.op}")
        axes = 3 if site.rpartition(".")[2] in WITH_HEADS else 2
        values: Array = node.values.reshape(node.values.shape[len(node.values.shape) - axes :])
        if values.shape[0] != rows:
            raise AssayError(f"site {site}: {values.shape[0]} rows of {rows} tokens")
        found[site] = values
    missing = all_sites(layers) - found.keys()
    if missing:
        raise AssayError(f"no node for {', '.join(sorted(missing))}")
    return found
