"""Blocks as PyPI's gguf encodes and decodes them: a stranger to quant.py and blocks.py, and each is held to the other."""
from __future__ import annotations

import importlib.metadata

import numpy as np

import quant
from blocks import rows_of
from formats import Blocks

SOURCE = f"weights encoded by PyPI's gguf {importlib.metadata.version('gguf')} (MIT)"


def encode(name: str, rows: np.ndarray) -> Blocks:
    """f32 [n, k] -> blocks [n, N_b] by gguf; our closed formula must give the same bytes, and gguf's decoder our values."""
    from gguf import GGMLQuantizationType, quants
    kind, ours = GGMLQuantizationType[name.upper()], quant.encode(name, rows)
    data = quants.quantize(rows, kind)
    assert np.array_equal(data.reshape(ours.data.shape), ours.data), f"{name}: gguf encodes otherwise"
    assert np.array_equal(quants.dequantize(data, kind), rows_of(ours)), f"{name}: gguf decodes otherwise"
    return ours
