"""A trace recorded afresh against the committed one: the same layout, head, prompts, tokens, positions, sites, shapes and types.

    python same_traces.py FRESH.h5 COMMITTED.h5 [--most 1e-12] [--other HEAD ...]

Values may differ, since torch and ggml choose kernels by CPU: the largest difference is printed, in units of the largest value of its site, and
with --most it is an error beyond that. --other names attributes of the head that may differ (model_sha256 of a GGUF file that was made anew).
Exit 1 where the files are not the same.
"""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

import h5py
import numpy as np

# Who wrote the file, and with which versions: not what it holds.
FREE = {"generator", "version", "source"}


def decoded(dataset: h5py.Dataset) -> np.ndarray:
    """Values in fp64."""
    raw = dataset[()]
    if dataset.attrs.get("dtype", b"") == b"bfloat16":
        return (raw.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return raw.astype(np.float64)


def datasets(file: h5py.File) -> dict[str, h5py.Dataset]:
    names: list[str] = []
    file.visit(names.append)
    return {name: file[name] for name in names if isinstance(file[name], h5py.Dataset)}


def is_exact(name: str) -> bool:
    """Text, tokens and positions; a continuation follows the values."""
    return name.rsplit("/", 1)[-1] in {"text", "tokens", "positions"} and "/greedy/" not in name


def head_differences(fresh: h5py.File, committed: h5py.File, other: set[str]) -> list[str]:
    keys = fresh.attrs.keys() | committed.attrs.keys()
    return [f"head {key}: {fresh.attrs.get(key)!r}, committed {committed.attrs.get(key)!r}" for key in sorted(keys - FREE - other)
            if fresh.attrs.get(key) != committed.attrs.get(key)]


def compare(fresh: h5py.File, committed: h5py.File, other: set[str]) -> tuple[list[str], float, str, int]:
    """What is not the same; the largest relative difference and where; how many tokens of continuations differ."""
    wrong = head_differences(fresh, committed, other)
    a, b = datasets(fresh), datasets(committed)
    wrong += [f"{name} is in one file alone" for name in sorted(a.keys() ^ b.keys())]
    worst, where, greedy = 0.0, "", 0
    for name in sorted(a.keys() & b.keys()):
        x, y = a[name], b[name]
        if name.endswith("/greedy/text"):
            continue
        if (x.shape, x.dtype, dict(x.attrs)) != (y.shape, y.dtype, dict(y.attrs)):
            wrong.append(f"{name}: {x.shape} {x.dtype} {dict(x.attrs)}, committed {y.shape} {y.dtype} {dict(y.attrs)}")
        elif is_exact(name):
            wrong += [] if np.array_equal(x[()], y[()]) else [f"{name} is another"]
        elif name.endswith("/greedy/tokens"):
            greedy += int(np.count_nonzero(x[()] != y[()]))
        elif "/greedy/" not in name:
            difference = np.abs(decoded(x) - decoded(y)).max() / np.abs(decoded(y)).max()
            if not where or not difference <= worst:
                worst, where = float(difference), name
    return wrong, worst, where, greedy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fresh", type=Path)
    parser.add_argument("committed", type=Path)
    parser.add_argument("--most", type=float, default=np.inf)
    parser.add_argument("--other", nargs="*", default=[])
    args = parser.parse_args()
    with h5py.File(args.fresh) as fresh, h5py.File(args.committed) as committed:
        wrong, worst, where, greedy = compare(fresh, committed, set(args.other))
        prompts, count = len(fresh["prompts"]), len(datasets(fresh))
    if not where:
        wrong.append("no value was compared")
    if not worst <= args.most:
        wrong.append(f"{where} differs by {worst:.2g} of its largest value; at most {args.most:.2g}")
    for line in wrong:
        print(f"{args.fresh}: {line}", file=sys.stderr)
    print(f"{args.committed.name}: {prompts} prompts, {count} datasets, {'the same' if not wrong else 'NOT the same'}; values differ by "
          f"{worst:.2g} of a site's largest{f' ({where})' if where else ''}, {greedy} tokens of continuations differ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
