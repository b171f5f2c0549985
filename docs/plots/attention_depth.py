"""Plots attention's time against depth as SVG, from the JSON of `assay bench`; the standard library alone.

    for n in 1024 2048 4096 8192 16384 32768; do
      assay bench attn_decode_f16 --isa avx512 --shape causal=1,group=2,head_dim=128,n_kv=8,length=$n --json > decode_$n.json; done
    for n in 512 1536 2560 4608 8704; do
      assay bench attn_prefill_f16 --isa avx512 --shape causal=1,group=2,head_dim=128,n_kv=8,rows=512,length=$n --json > prefill_$n.json; done
    python attention_depth.py decode_*.json prefill_*.json > attention_depth.svg
"""
from __future__ import annotations

import json
import sys
from dataclasses import dataclass

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 420, 260, 60, 40, 30


@dataclass
class Point:
    op: str
    depth: int      # positions before the call's first row
    ms: float
    share: float    # per cent of the roof that bounds the op: read for decode, arithmetic for prefill


def point(file: str) -> Point:
    """The one benchmark of a file."""
    with open(file, encoding="utf-8") as text:
        entry = json.load(text)["benchmarks"][0]
    sizes = dict(pair.split("=") for pair in entry["shape"].split(","))
    rows = int(sizes.get("rows", 0))
    share = entry["compute_percent"] if rows else entry["read_percent"]
    return Point(entry["op"], int(sizes["length"]) - rows, entry["real_time"] / 1e6, share)


def text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def panel(op: str, points: list[Point], left: float) -> list[str]:
    """Time against depth, both from 0, with the line through the last point and the least depth's."""
    points = sorted(points, key=lambda p: p.depth)
    most_depth, most_ms = points[-1].depth, 1.1 * max(p.ms for p in points)

    def x(depth: float) -> float:
        return left + LEFT + depth / most_depth * (WIDTH - LEFT - 30)

    def y(ms: float) -> float:
        return HEIGHT - BOTTOM - ms / most_ms * (HEIGHT - BOTTOM - TOP)

    out = [text(left + WIDTH / 2, 18, op),
           f'<path class="axis" d="M{x(0):.1f} {TOP} V{y(0):.1f} H{x(most_depth):.1f}"/>',
           text(left + WIDTH / 2, HEIGHT - 8, "depth, positions"), text(x(0) - 6, TOP + 4, f"{most_ms:.3g} ms", "end"),
           text(x(0) - 6, y(0) + 4, "0", "end")]
    path = " L".join(f"{x(p.depth):.1f} {y(p.ms):.1f}" for p in points)
    out.append(f'<path class="line" d="M{path}"/>')
    for p in points:
        out.append(f'<circle cx="{x(p.depth):.1f}" cy="{y(p.ms):.1f}" r="3"><title>{p.depth} positions: {p.ms:.3g} ms, '
                   f'{p.share:.0f} % of the roof</title></circle>')
        if p.depth >= most_depth / 9 or p.depth == 0:
            out.append(text(x(p.depth), y(0) + 14, str(p.depth)))
            out.append(text(x(p.depth) - 6, y(p.ms) - 6, f"{p.share:.0f} %", "end" if p.depth else "start"))
    return out


def main(files: list[str]) -> None:
    by_op: dict[str, list[Point]] = {}
    for file in files:
        one = point(file)
        by_op.setdefault(one.op, []).append(one)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH * len(by_op)}" height="{HEIGHT}" font-family="sans-serif" '
          'font-size="11"><style>svg{background:#fff}text{fill:#333}.axis{stroke:#888;fill:none}'
          '.line{stroke:#06c;fill:none}circle{fill:#06c}</style>')
    for i, (op, points) in enumerate(sorted(by_op.items())):
        print("\n".join(panel(op, points, i * WIDTH)))
    print("</svg>")


main(sys.argv[1:])
