"""Plots where passes spend their time as SVG, from the JSON of `assay run --profile`; the standard library alone.

    for n in 512 4096; do
      assay run qwen3-0.6b-q4_k_m.gguf -p "$(head -c $n /dev/zero | tr '\\0' ,)" -n 33 --ignore-eos --kv-type f16 --profile --json > q4_k_m-$n.json; done
    python profile.py q4_k_m-512.json q4_k_m-4096.json > profile.svg

A bar is a pass, its width the time of a token; a part's label is its share of that time and, below, the per cent of its roof: what its bytes at
the read roof, or its operations at the roof of arithmetic, would take at least, of what it took.
"""
from __future__ import annotations

import json
import sys
from dataclasses import dataclass

WIDTH, LEFT, ROW, BAR = 1000, 190, 58, 26
GROUPS = {
    "products": ("#3b6fb6", ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")),
    "head": ("#7fa8d9", ("lm_head", "final_norm", "final_norm.quant")),
    "attention": ("#d9822b", ("attn",)),
    "cache": ("#f0c987", ("kv_store",)),
    "rows: norms, rope, residuals, swiglu, quantising": ("#8a9a5b", ()),  # whatever is nowhere else
    "waiting": ("#bbbbbb", ()),
}


@dataclass
class Share:
    group: str
    seconds: float
    least: float  # what the roofs allow

    @property
    def of_roof(self) -> float:
        return 100 * self.least / self.seconds if self.seconds else 0


@dataclass
class Bar:
    title: str
    seconds: float  # of a token
    shares: list[Share]


def group_of(site: str) -> str:
    rows = next(name for name in GROUPS if name.startswith("rows"))
    return next((name for name, (_, sites) in GROUPS.items() if site in sites), rows)


def least_time(step: dict, roofs: dict) -> float:
    """Moving its bytes or doing its operations at the roof, whichever takes longer."""
    arithmetic = step["operations"] / roofs[step["of"]] if step.get("operations") else 0
    return max(step["bytes"] / roofs["read"], arithmetic)


def bars(file: str) -> list[Bar]:
    with open(file, encoding="utf-8") as text:
        run = json.load(text)
    profile, found = run["profile"], []
    for part in profile["parts"]:
        shares = {name: Share(name, 0, 0) for name in GROUPS}
        for step in part["steps"]:
            share = shares[group_of(step["site"])]
            share.seconds += step["seconds"]
            share.least += least_time(step, profile["roofs"])
        shares["waiting"].seconds = part["waiting"]
        where = f"{part['tokens']} tokens" if part["name"] == "prefill" else f"after {run['prompt_tokens']}"
        found.append(Bar(f"{part['name']}, {where}", part["seconds"] / part["tokens"], [s for s in shares.values() if s.seconds]))
    return found


def draw(bar: Bar, top: float, name: str) -> list[str]:
    out = [f'<text x="{LEFT - 8}" y="{top + 12}" text-anchor="end">{name}: {bar.title}</text>',
           f'<text x="{LEFT - 8}" y="{top + 26}" text-anchor="end">{1e3 * bar.seconds:.2f} ms a token</text>']
    whole, x = sum(share.seconds for share in bar.shares), float(LEFT)
    for share in bar.shares:
        width = (WIDTH - LEFT - 10) * share.seconds / whole
        part = f"{100 * share.seconds / whole:.1f} %"
        out.append(f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="{BAR}" fill="{GROUPS[share.group][0]}">'
                   f'<title>{share.group}: {part} of the time, {share.of_roof:.0f} % of the roof</title></rect>')
        if width > 34:
            out.append(f'<text x="{x + width / 2:.1f}" y="{top + 17}" text-anchor="middle" class="in">{part}</text>')
            if share.least:
                out.append(f'<text x="{x + width / 2:.1f}" y="{top + BAR + 13}" text-anchor="middle">{share.of_roof:.0f} %</text>')
        x += width
    return out


def main(files: list[str]) -> None:
    found = [(file.rsplit("/", 1)[-1].split("-")[0], bar) for file in files for bar in bars(file)]
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{ROW * len(found) + 40}" font-family="sans-serif" font-size="11">'
          "<style>svg{background:#fff}text{fill:#333}.in{fill:#fff}</style>")
    x = 10.0
    for name, (colour, _) in GROUPS.items():
        print(f'<rect x="{x}" y="8" width="12" height="12" fill="{colour}"/><text x="{x + 17}" y="18">{name}</text>')
        x += 40 + 6.2 * len(name)
    for i, (name, bar) in enumerate(found):
        print("\n".join(draw(bar, 36 + i * ROW, name)))
    print("</svg>")


main(sys.argv[1:])
