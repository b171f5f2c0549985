"""Graphs of ONNX that torch exported: which of their tensors is which site, by the modules that its nodes say they came from."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from assay._errors import AssayError
from assay.record._recording import expanded

_SCOPES = "pkg.torch.onnx.name_scopes"


def onnx_sites(graph: Any, mapping: Mapping[str, str], layers: int = 0) -> dict[str, str]:
    """Of each site the name of its tensor in `graph`, the graph of a model that `torch.onnx.export(..., dynamo=True)` wrote: the last thing that the
    module computes, or, with a `<` before its name, the first that it is given; `MODULE/Add`: what the module's own nodes of that kind
    compute, sites that name the same in turn. `mapping` and `layers`: see `assay.record.taps`. Raises AssayError for what is not there."""
    constants = {one.name for one in graph.initializer}
    scopes = [_scopes(node) for node in graph.node]
    taken: dict[str, int] = {}
    found = {}
    for site, name in expanded(mapping, layers):
        module, _, kind = name.removeprefix("<").partition("/")
        nodes = [
            node for node, scope in zip(graph.node, scopes, strict=True) if (node.op_type == kind and scope[-2:-1] == [module] if kind else module in scope)
        ]
        turn = taken.get(name, 0) if kind else -1
        taken[name] = turn + 1
        if turn >= len(nodes) or not nodes:
            raise AssayError(f"site {site}: the graph has no node of {name}")
        given = [one for one in nodes[0].input if one not in constants]
        found[site] = given[0] if name.startswith("<") else nodes[turn].output[0]
    return found


def _scopes(node: Any) -> list[str]:
    """The modules that a node lies in, outermost first, and its own name."""
    words = next((one.value for one in node.metadata_props if one.key == _SCOPES), "[]")
    return [str(one) for one in ast.literal_eval(words)]
