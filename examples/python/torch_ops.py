"""Ops of torch as an engine calls them, eager; `compiled()` has the same through torch.compile.

`python torch_ops.py` holds each to its op. What torch leaves open (which NaN, what lies outside the mask) is declared: nan=no.
"""

import inspect

import torch
import torch.nn.functional as F

import assay


def rms_norm(x: torch.Tensor, w: torch.Tensor, eps: float) -> torch.Tensor:
    return F.rms_norm(x, (x.shape[-1],), w, eps)


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


def swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    return F.silu(gate) * up


def rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Halves turned against one another, as Hugging Face's models do; what is past rot_dim stays."""
    half = cos.shape[-1]
    c, s = cos[0].unsqueeze(1), sin[0].unsqueeze(1)
    a, b, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    return torch.cat((a * c - b * s, b * c + a * s, rest), -1)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, position: int, window: int, causal: int, scale: float, first_position: int = 0):
    """Of q [rows, heads, head_dim] and k, v [kv heads, positions, head_dim]."""
    if 0 in q.shape:
        return q
    keys = first_position + torch.arange(k.shape[1])
    at = position + torch.arange(q.shape[0]).unsqueeze(1)
    mask = (keys <= at) & ((keys > at - window) | (window == 0)) if causal else torch.ones(q.shape[0], k.shape[1], dtype=torch.bool)
    repeat = q.shape[1] // k.shape[0]
    k, v = (t.float().repeat_interleave(repeat, 0) for t in (k, v))
    return F.scaled_dot_product_attention(q.transpose(0, 1), k, v, mask, scale=scale).transpose(0, 1).contiguous()


def linear_bf16(w: torch.Tensor, x: torch.Tensor, n: int) -> torch.Tensor:
    """Weights of bf16, activations of fp32: w is tile-major, [ceil(n / 32), k, 32]."""
    rows = w.transpose(1, 2).flatten(0, 1)[:n]
    return F.linear(x, rows.float())


SPLIT = {"rows": 5, "heads": 3, "head_dim": 64, "pairing": "split"}
KERNELS = {
    "rms_norm": ("rms_norm", rms_norm, {"traits": "nan=no"}),
    "softmax": ("softmax", softmax, {"traits": "nan=no"}),
    "swiglu": ("swiglu", swiglu, {"traits": "nan=no"}),
    "rope": ("rope", rope, {"shape": SPLIT, "data": "gauss", "cases": 5}),
    "attention": ("attn_prefill_f32", attention, {"shape": {"rows": 7, "length": 100}, "data": "gauss", "cases": 5}),
    "linear_bf16": ("gemm_bf16", linear_bf16, {"traits": "nan=no"}),
}


class Compiled:
    """torch.compile of a kernel, made where it is first called: what it makes cannot be pickled."""

    def __init__(self, kernel):
        self.kernel, self.made = kernel, None
        self.__name__ = f"compiled_{kernel.__name__}"
        self.__signature__ = inspect.signature(kernel)

    def __call__(self, **given):
        if self.made is None:
            torch._dynamo.config.recompile_limit = 64
            self.made = torch.compile(self.kernel, dynamic=True)
        return self.made(**given)


def compiled(name: str):
    """The same through torch.compile."""
    op, kernel, options = KERNELS[name]
    return op, Compiled(kernel), {**options, "arrays": "torch", "time_limit": 120}


if __name__ == "__main__":
    for op, kernel, options in KERNELS.values():
        print(assay.check(op, kernel, **options))
