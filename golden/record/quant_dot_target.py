"""One op of the products over quantised weights: its formats, and how its cases are put together."""
from __future__ import annotations

import numpy as np

import packed
from block_formats import FORMATS
from formats import Blocks, Tensor
from generate import Draw, Generated
from quant_data import activations
from schema import Case

SMALL_BLOCKS = {1: 1, 2: 3, 3: 9, 4: 17, 12: 32}  # in their place, blocks of 32


class Target:
    """One op: its formats, and how its cases are put together."""

    def __init__(self, shape: str, weights: str, x: str, x16: bool = False) -> None:
        self.gemm, self.weights, self.x, self.x16 = shape == "gemm", weights, x, x16
        self.name = f"{shape}_{weights}{'_x16' if x16 else ''}_{x}"
        self.form = FORMATS[weights]

    def columns(self, blocks: int) -> int:
        return blocks if self.form.elements == 256 else SMALL_BLOCKS.get(blocks, blocks)

    def draw(self, what: str) -> Draw:
        """Plain and packed rows of the same formats get the same data."""
        return Draw(f"{'gemm' if self.gemm else 'gemv'}_{self.weights}_{self.x}/{what}")

    def random(self, draw: Draw, n: int, blocks: int) -> Blocks | Generated:
        """Weights [n, blocks]: as a recipe where that is smaller, which packed rows have none of."""
        if n and blocks and not self.x16:
            return draw.input("blocks", (n, blocks), self.weights)
        return draw.recipe("blocks", (n, blocks), self.weights).tensor

    def activations(self, draw: Draw, rows: int, blocks: int, distribution: str = "gauss", **how: float) -> Tensor:
        """[rows, ..]: blocks, or f32."""
        if self.x == "f32":
            return draw.array(distribution, (rows, blocks * self.form.elements), **how)
        return activations(draw, self.x, (rows, blocks), distribution, **how)

    def activations_recipe(self, draw: Draw, rows: int, blocks: int) -> Generated:
        if self.x == "f32":
            return draw.recipe("gauss", (rows, blocks * self.form.elements))
        return draw.recipe("activations", (rows, blocks), self.x)

    def case(self, name: str, w: Blocks | Generated, x: Tensor, tags: str = "", status: str = "ok", note: str = "",
             k: int | None = None, padding: np.ndarray | int = 0, **strides: int) -> Case:
        """`x` has rows; a gemv takes the first."""
        n, blocks = w.shape
        sizes = {"n": n, "k": blocks * self.form.elements if k is None else k}
        if self.gemm:
            sizes = {"m": x.shape[0], **sizes, **strides}
        stored = packed.pack(w, padding) if self.x16 else w
        return Case(name, sizes, {"w": stored, "x": x if self.gemm else x[0]}, tags, status, note)
