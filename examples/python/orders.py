"""In which order NumPy and torch add up: `python orders.py [FOLDER]` prints each as `assay order` does, and draws it there (docs/order.md)."""

import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import assay

WIDE = 2.0**100  # beside it a variance vanishes: what is left of a layer norm is its mean


def rows_of(w, k, n):
    """Of tile-major weights, [ceil(n / 32), k, 32]."""
    return np.ascontiguousarray(w.transpose(0, 2, 1)).reshape(-1, k)[:n]


def numpy_sum(w, x, n):
    return (rows_of(w, len(x), n) * x).sum(-1)


def numpy_matmul(w, x, n):
    return rows_of(w, len(x), n) @ x


def torch_sum(w, x, n):
    return torch.from_numpy(rows_of(w, len(x), n) * x).sum(-1).numpy()


def torch_linear(w, x, n):
    return F.linear(torch.from_numpy(x), torch.from_numpy(rows_of(w, x.shape[-1], n))).numpy()


def torch_layer_norm(w, x, n):
    """The sum inside the mean: a last element of 0 becomes -mean / sqrt(variance + eps)."""
    terms = np.concatenate((rows_of(w, len(x), n) * x, np.zeros((n, 1), np.float32)), -1)
    y = F.layer_norm(torch.from_numpy(terms), terms.shape[-1:], eps=WIDE).numpy()
    return (y[:, -1] * np.float32(-np.sqrt(WIDE) * terms.shape[-1])).astype(np.float32)


def torch_rms_norm(x, w, eps):
    return F.rms_norm(torch.from_numpy(x), x.shape[-1:], torch.from_numpy(w), eps).numpy()


def torch_softmax(x):
    return torch.from_numpy(x).softmax(-1).numpy()


# name: kernel, op, shapes
ORDERS = {
    "numpy-sum": (numpy_sum, "matvec_f32", [{"k": 64, "n": 8}, {"k": 300, "n": 8}]),
    "numpy-matmul": (numpy_matmul, "matvec_f32", [{"k": 64, "n": 8}]),
    "torch-sum": (torch_sum, "matvec_f32", [{"k": 64, "n": 8}, {"k": 300, "n": 8}]),
    "torch-linear": (torch_linear, "gemm_f32", [{"k": 64, "n": 8, "m": 1}, {"k": 64, "n": 8, "m": 4}, {"k": 64, "n": 256, "m": 128}]),
    "torch-layer-norm": (torch_layer_norm, "matvec_f32", [{"k": 63, "n": 8}]),
    "torch-rms-norm": (torch_rms_norm, "rms_norm", [{"n": 64, "rows": 8}]),
    "torch-softmax": (torch_softmax, "softmax", [{"n": 64, "rows": 8}]),
}


def main(folder: Path | None) -> None:
    for name, (kernel, op, shapes) in ORDERS.items():
        found = assay.order(op, kernel, shapes=shapes, svg=folder and folder / f"{name}.svg", arrays="numpy")
        print(f"# {name}\n{found}", end="")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
