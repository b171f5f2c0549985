"""Callables that the tests judge, in a module of its own, as users' are."""

import numpy as np


def right(x, w, eps):
    """The definition, in fp64."""
    wide = x.astype(np.float64)
    n = max(x.shape[-1], 1)
    return (wide / np.sqrt((wide * wide).sum(-1, keepdims=True) / n + np.float64(eps)) * w).astype(np.float32)


def wrong(x, w, eps):
    """With eps outside the root."""
    wide = x.astype(np.float64)
    n = max(x.shape[-1], 1)
    return (wide / (np.sqrt((wide * wide).sum(-1, keepdims=True) / n) + np.float64(eps)) * w).astype(np.float32)
