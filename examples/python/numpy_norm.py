"""RMSNorm in NumPy, right and with eps outside the root: `python numpy_norm.py`."""

import numpy as np

import assay


def norm(x, w, eps):
    wide = x.astype(np.float64)
    mean = (wide * wide).sum(-1, keepdims=True) / max(x.shape[-1], 1)
    return (wide / np.sqrt(mean + np.float64(eps)) * w).astype(np.float32)


def norm_eps_outside(x, w, eps):
    wide = x.astype(np.float64)
    mean = (wide * wide).sum(-1, keepdims=True) / max(x.shape[-1], 1)
    return (wide / (np.sqrt(mean) + np.float64(eps)) * w).astype(np.float32)


KERNELS = {"norm": ("rms_norm", norm, {}), "norm_eps_outside": ("rms_norm", norm_eps_outside, {})}

if __name__ == "__main__":
    print(assay.check("rms_norm", norm))
    print(assay.check("rms_norm", norm_eps_outside))
