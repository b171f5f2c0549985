"""Recorders: what an engine computes at each site of a model, as a trace (docs/traces.md).

    assay.record.hf(model, input_ids, "t.h5")                   a model of transformers whose architecture the bench knows
    assay.record.llama_cpp("model.gguf", "t.h5", text="...")    llama.cpp, by llama-cpp-python
    assay.record.torch(module, mapping, ids, "t.h5", head)      one's own module: which of its modules are which sites
    calls(parts, mapping)                                       objects that one calls (MLX); onnx_sites(graph, mapping): tensors of a graph of ONNX
    Recording(head).add(...).write("t.h5")                      any engine's arrays

Needs h5py (`pip install assay-bench[record]`), and the engine. Nothing of an engine is imported before its recorder is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.record._recording import Greedy, Head, Recording, all_sites, layer_site, sha256_of

if TYPE_CHECKING:
    from assay.record._calls import calls as calls
    from assay.record._hf import QWEN3 as QWEN3
    from assay.record._hf import hf as hf
    from assay.record._hf import hf_sites as hf_sites
    from assay.record._llama import llama_cpp as llama_cpp
    from assay.record._onnx import onnx_sites as onnx_sites
    from assay.record._torch import taps as taps
    from assay.record._torch import torch as torch

_HOME_OF = {
    **dict.fromkeys(("QWEN3", "hf", "hf_sites"), "_hf"),
    **dict.fromkeys(("taps", "torch"), "_torch"),
    "calls": "_calls",
    "llama_cpp": "_llama",
    "onnx_sites": "_onnx",
}
__all__ = [
    "QWEN3",
    "Greedy",
    "Head",
    "Recording",
    "all_sites",
    "calls",
    "hf",
    "hf_sites",
    "layer_site",
    "llama_cpp",
    "onnx_sites",
    "sha256_of",
    "taps",
    "torch",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'assay.record' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(f"assay.record.{_HOME_OF[name]}"), name)
