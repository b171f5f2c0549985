"""Making attention's cases: recipes, or built arrays laid into a view's slots with NaN wherever nothing may be read."""
from __future__ import annotations

import numpy as np

from attention import slots_of
from fma32 import F32
from formats import from_f32
from generate import Draw
from schema import Case

ROWS = 5  # of prefill, unless a scene says otherwise


def arrange(data: np.ndarray, params: dict) -> np.ndarray:
    """[n_kv, length, head_dim] -> [slots, n_kv, span_positions, head_dim]. Later spans overwrite earlier ones in their slot."""
    n_kv, length, head_dim = data.shape
    size, slots = slots_of(params, length)
    out = np.full((params.get("slots", max(1, len(slots))), n_kv, size, head_dim), np.nan, F32)
    for i, slot in enumerate(slots):
        piece = data[:, i * size:(i + 1) * size]
        out[slot, :, :piece.shape[1]] = piece
    return out


class Maker:
    """Cases of one op. Queries are given as [rows, heads, head_dim]; decode takes the last row."""

    def __init__(self, kind: str, dtype: str) -> None:
        self.prefill, self.dtype = kind == "prefill", dtype

    def rows(self, rows: int = ROWS) -> int:
        return rows if self.prefill else 1

    def draw(self, name: str) -> Draw:
        return Draw(f"attn/{'prefill' if self.prefill else 'decode'}/{self.dtype}/{name}")

    def params(self, rows: int, group: int, n_kv: int, head_dim: int, length: int, given: dict) -> dict:
        params = {"n_kv": n_kv, "group": group, "head_dim": head_dim, "length": length, "causal": 1, "window": 0,
                  "scale": float(F32(1 / np.sqrt(max(1, head_dim))))} | given
        params.setdefault("position", max(0, params.get("first_position", 0) + length - rows))
        return params | ({"rows": rows} if self.prefill else {})

    def random(self, name: str, n_kv: int, group: int, head_dim: int, length: int, tags: str = "", note: str = "",
               rows: int = ROWS, sd: float = 1.0, kind: str = "gauss", **given: float) -> Case:
        """Every tensor from the generator; sd is that of q."""
        rows, draw = self.rows(rows), self.draw(name)
        params = self.params(rows, group, n_kv, head_dim, length, given)
        size, slots = slots_of(params, length)
        q = draw.input("gauss", (rows,) * self.prefill + (n_kv * group, head_dim), scale=sd)
        cache = (params.get("slots", max(1, len(slots))), n_kv, size, head_dim)
        k, v = (draw.input(kind, cache, self.dtype) for _ in range(2))
        return Case(name, params, {"q": q, "k": k, "v": v}, tags, note=note)

    def built(self, name: str, q: np.ndarray, k: np.ndarray, v: np.ndarray, tags: str = "", note: str = "",
              poison: bool = True, status: str = "ok", **given: float) -> Case:
        """q [rows, heads, head_dim], k, v [n_kv, length, head_dim]; positions that no row sees become NaN."""
        n_kv, length, head_dim = k.shape
        q = F32(q if self.prefill else q[-1:])
        params = self.params(q.shape[0], q.shape[1] // max(1, n_kv), n_kv, head_dim, length, given)
        k, v = F32(k).copy(), F32(v).copy()
        if poison:
            unseen = ~self.seen(params, q.shape[0])
            k[:, unseen], v[:, unseen] = np.nan, np.nan
        inputs = {"q": q if self.prefill else q[0]}
        inputs |= {name: from_f32(arrange(data, params), self.dtype) for name, data in (("k", k), ("v", v))}
        return Case(name, params, inputs, tags, status, note)

    @staticmethod
    def seen(params: dict, rows: int) -> np.ndarray:
        """Positions of the view that some row sees."""
        keys = params.get("first_position", 0) + np.arange(params["length"])
        if not params["causal"]:
            return np.ones(len(keys), bool)
        seen = keys <= params["position"] + rows - 1
        return seen & (keys > params["position"] - params["window"]) if params["window"] else seen
