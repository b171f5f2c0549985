"""What generated mutants know of an op's call: its sizes and how large they are in use, its strides, its tensors, where it writes."""

from __future__ import annotations

import fnmatch
import functools
import re
from dataclasses import dataclass, field

from edits import text_of
from ops import Op, formats, members, ops

PROMPT = 512  # rows of a prompt that engines take at once


@dataclass(frozen=True)
class Stride:
    """Of a tensor: how far apart rows lie, in elements."""

    name: str
    dense: str
    rows: str  # that lie so far apart; "1" where they do not


@dataclass(frozen=True)
class Layout:
    """Of the ops that a pattern names: expressions of `a`, the arguments."""

    pattern: str
    sizes: dict[str, str]  # member or expression to the columns of reference/ops/models.inc that it takes its values from
    output: str  # at, outer, outer stride, inner, inner stride, width; of two tensors the second after a semicolon
    strides: list[Stride] = field(default_factory=list)
    element: str = "f32"  # of the output; or what says so: "to", "type", "block", "packed"
    values: tuple[str, str, int] | None = None  # an array of indices, its length, and how large they are
    tensors: tuple[str, ...] = ()  # pointers beside the struct's own

    def most(self, size: str) -> int:
        """The largest value in use."""
        return max(largest(column) for column in self.sizes[size].split())

    def wide(self, size: str) -> bool:
        """Whether it counts the elements of a row, not rows or heads."""
        return self.most(size) > PROMPT or "dim" in self.sizes[size]


KEYS = "around::keys_of(a)"
GROUP = "(a.n_kv > 0 ? a.n_heads / a.n_kv : 0)"
ATTENTION = {GROUP: "group", "n_kv": "kv_heads", "head_dim": "head_dim", KEYS: "positions", "position": "positions", "window": "window"}
ATTENTION_STRIDES = [Stride("q_head_stride", "a.head_dim", "a.n_heads"), Stride("y_head_stride", "a.head_dim", "a.n_heads")]
ATTENTION_ROW_STRIDES = [Stride("q_row_stride", "a.n_heads * a.q_head_stride", "a.rows"), Stride("y_row_stride", "a.n_heads * a.y_head_stride", "a.rows")]
ATTENTION_OUTPUT = "a.y, a.rows, a.y_row_stride, a.n_heads, a.y_head_stride, a.head_dim"
SPANS = ("around::keys_at(a)", "around::values_at(a)")
GEMM = {"m": "prompt", "n": "hidden ffn vocab", "k": "hidden ffn"}
X_ROWS, Y_ROWS = Stride("x_stride", "a.k / per_x", "a.m"), Stride("y_stride", "a.n", "a.m")
PACKED = {"n": "hidden ffn vocab", "k": "hidden ffn"}
BLOCKS = "a.dst, a.rows, a.dst_stride, 1, 0, a.k / unit"

# The first pattern that fits an op counts.
LAYOUTS = (
    Layout("swiglu", {"rows": "prompt", "n": "ffn"}, "a.y, a.rows, a.y_stride, 1, 0, a.n",
           [Stride(f"{name}_stride", "a.n", "a.rows") for name in ("gate", "up", "y")]),
    Layout("exp", {"n": "hidden ffn"}, "a.y, 1, 0, 1, 0, a.n"),
    Layout("add", {"n": "hidden ffn"}, "a.y, 1, 0, 1, 0, a.n"),
    Layout("attn_decode_*", ATTENTION, ATTENTION_OUTPUT, ATTENTION_STRIDES, tensors=SPANS),
    Layout("attn_prefill_*", {"rows": "prompt", **ATTENTION}, ATTENTION_OUTPUT, ATTENTION_STRIDES + ATTENTION_ROW_STRIDES, tensors=SPANS),
    Layout("encode_*", {"k": "hidden ffn"}, BLOCKS, element="block"),
    Layout("quantize_*", {"rows": "prompt", "k": "hidden ffn"}, BLOCKS,
           [Stride("src_stride", "a.k", "a.rows"), Stride("dst_stride", "a.k / unit", "a.rows")], "block"),
    Layout("decode_*", {"k": "hidden ffn"}, "a.dst, 1, 0, 1, 0, a.k"),
    Layout("convert_*", {"n": "hidden ffn vocab"}, "a.dst, 1, 0, 1, 0, a.n", element="to"),
    Layout("kv_store_*", {"tokens": "prompt", "n_kv": "kv_heads", "head_dim": "head_dim", "head_dim_padded": "head_dim",
                          "capacity": "positions", "position": "positions"},
           "a.dst + a.position * a.head_dim_padded, a.n_kv, a.capacity * a.head_dim_padded, a.tokens, a.head_dim_padded, a.head_dim_padded",
           [Stride("src_row_stride", "a.n_kv * a.src_head_stride", "a.tokens"), Stride("src_head_stride", "a.head_dim", "a.n_kv"),
            Stride("head_dim_padded", "a.head_dim", "a.tokens")], "type"),
    Layout("kv_copy_*", {"n_kv": "kv_heads", "positions": "positions", "head_dim": "head_dim"},
           "a.dst, a.n_kv, a.dst_head_stride, a.positions, a.dst_row_stride, a.head_dim",
           [Stride(f"{name}_row_stride", "a.head_dim", "a.positions") for name in ("src", "dst")]
           + [Stride(f"{name}_head_stride", f"a.positions * a.{name}_row_stride", "a.n_kv") for name in ("src", "dst")], "type"),
    Layout("kv_repack_*", {"n_kv": "kv_heads", "row": "head_dim", "positions": "positions", "capacity_src": "positions", "capacity_dst": "positions"},
           "a.data, a.n_kv, a.capacity_dst * a.row, a.positions, a.row, a.row", element="type"),
    Layout("logits_*", {"vocab": "vocab", "positions": "positions", "position": "positions"},
           "a.dst + a.position * a.dst_stride, 1, 0, 1, 0, a.vocab", [Stride("dst_stride", "a.vocab", "a.position + 1")]),
    Layout("embed_*", {"vocab": "vocab", "rows": "prompt", "n": "hidden"}, "a.y, a.rows, a.y_stride, 1, 0, a.n",
           [Stride("y_stride", "a.n", "a.rows")], values=("ids", "a.rows", 18)),
    Layout("argmax", {"n": "vocab"}, "a.index, 1, 0, 1, 0, 1", element="index", values=("index", "1", 18)),
    Layout("rms_norm", {"rows": "prompt", "n": "hidden"}, "a.y, a.rows, a.y_stride, 1, 0, a.n",
           [Stride(f"{name}_stride", "a.n", "a.rows") for name in ("x", "y")]),
    Layout("softmax", {"rows": "prompt", "n": "hidden"}, "a.y, a.rows, a.y_stride, 1, 0, a.n",
           [Stride(f"{name}_stride", "a.n", "a.rows") for name in ("x", "y")]),
    Layout("pack_tile_*", PACKED, "a.dst, (a.n + 31) / 32, a.k * 32, a.k, 32, 32", [Stride("src_stride", "a.k", "a.n")], "type"),
    Layout("unpack_tile_*", PACKED, "a.dst, a.n, a.dst_stride, 1, 0, a.k", [Stride("dst_stride", "a.k", "a.n")], "type"),
    Layout("pack_*_x16", PACKED, "a.dst, (a.n + 15) / 16, a.k / unit, 1, 0, a.k / unit", element="packed"),
    Layout("unpack_*_x16", PACKED, "a.dst, a.n, a.k / unit, 1, 0, a.k / unit", element="block"),
    Layout("gemv_*", {"n": GEMM["n"], "k": GEMM["k"]}, "a.y, 1, 0, 1, 0, a.n"),
    Layout("matvec_*", {"n": GEMM["n"], "k": GEMM["k"]}, "a.y, 1, 0, 1, 0, a.n"),
    Layout("gemm_*", GEMM, "a.y, a.m, a.y_stride, 1, 0, a.n", [X_ROWS, Y_ROWS]),
    Layout("linear_*", GEMM | {"k": "linear"}, "a.y, a.m, a.y_stride, 1, 0, a.n", [X_ROWS, Y_ROWS]),
    Layout("rope_table", {"rows": "prompt", "pairs": "pairs"},
           "a.cos, a.rows, a.table_stride, 1, 0, a.pairs; a.sin, a.rows, a.table_stride, 1, 0, a.pairs",
           [Stride("table_stride", "a.pairs", "a.rows")], values=("positions", "a.rows", 24)),
    Layout("rope", {"rows": "prompt", "heads": "heads", "head_dim": "head_dim", "rot_dim": "rot_dim"},
           "a.y, a.rows, a.y_row_stride, a.heads, a.y_head_stride, a.head_dim",
           [Stride("table_stride", "a.rot_dim / 2", "a.rows"),
            *(Stride(f"{name}_head_stride", "a.head_dim", "a.heads") for name in ("x", "y")),
            *(Stride(f"{name}_row_stride", f"a.heads * a.{name}_head_stride", "a.rows") for name in ("x", "y"))]),
)


def layout_of(op: str) -> Layout:
    """Its row of the table."""
    found = next((layout for layout in LAYOUTS if fnmatch.fnmatch(op, layout.pattern)), None)
    if not found:
        raise SystemExit(f"tests/mutants/layouts.py: no row for {op}")
    return found


@functools.cache
def models() -> list[dict[str, int]]:
    """The rows of reference/ops/models.inc."""
    text = text_of("reference/ops/models.inc")
    names = re.search(r"^// ASSAY_MODEL\((.*)\)$", text, re.MULTILINE)
    if not names:
        raise SystemExit("reference/ops/models.inc: no line that names the columns")
    columns = names[1].split(", ")
    rows = re.findall(r"^ASSAY_MODEL\((.*), \"", text, re.MULTILINE)
    return [{name: int(float(value)) for name, value in zip(columns, row.split(", "))} for row in rows]


@functools.cache
def largest(column: str) -> int:
    """In use; of a column, or of what is made of some."""
    made = {"prompt": lambda _: PROMPT, "group": lambda m: m["heads"] // m["kv_heads"], "pairs": lambda m: m["rot_dim"] // 2,
            "linear": lambda m: min(m["ffn"], 65536)}
    return max(made.get(column, lambda m: m[column])(model) for model in models())


ELEMENTS = {"f32": (4, 3, 0x7F800000), "f16": (2, 1, 0x7C00), "bf16": (2, 1, 0x7F80), "index": (4, 3, 0)}  # bytes, that of the exponent, its bits


def scale_byte(name: str) -> int:
    """Of a block: the byte of its scale that weighs most."""
    return {"q6_k": formats()["q6_k"][1] - 1, "q8_k": 3}.get(name, 1)


def element_of(op: Op) -> tuple[int, int, int]:
    """Of the output: bytes, the one that weighs most, and the bits of a float's exponent."""
    kind = layout_of(op.name).element
    name = kind if kind in ELEMENTS else op.columns[-1]
    if name in ELEMENTS:
        return ELEMENTS[name]
    size = formats()[name][1]
    return (16 * size, 1, 0) if kind == "packed" else (size, scale_byte(name), 0)


def units_of(op: Op) -> tuple[int, int]:
    """What k must be a multiple of, and the numbers of an element of x."""
    blocks = [formats()[name][0] for name in op.columns if name in formats()]
    x = op.columns[-1] if op.family == "products" and op.columns[0] != "linear" else ""
    return max(blocks, default=1), formats().get(x, (1, 0))[0]


def tensors_of(op: Op) -> list[str]:
    """Expressions of its tensors' addresses."""
    own = [f"a.{name}" for name, kind in members(op.arguments).items() if kind.endswith("*") and "Span" not in kind]
    return [*own, *layout_of(op.name).tensors]


def output_function(op: Op) -> str:
    """C++: where the call whose arguments are `a` writes."""
    size, byte, exponent = element_of(op)
    kinds = members(op.arguments)

    def rows(text: str) -> str:
        at, *rest = text.strip().split(", ")
        address, _, offset = at.partition(" + ")
        pointer = f"reinterpret_cast<char*>({address})" if "void" not in kinds[address[2:]] else f"static_cast<char*>({address})"
        start = f"{pointer} + ({offset}) * {size}" if offset else pointer
        return f"{{{start}, {', '.join(rest)}, {size}, {byte}, {exponent:#x}u}}"

    first, _, second = layout_of(op.name).output.partition(";")
    address = re.split("[, ]", first)[0]
    unit, per_x = units_of(op)
    return f"""constexpr int64_t unit = {unit}, per_x = {per_x};
template <class Args> void* out(const Args& a) {{ return {address}; }}
template <class Args> around::Output output(const Args& a) {{
  return {{{{{rows(first)}, {rows(second) if second else "{}"}}}}};
}}"""


def by_layout() -> dict[str, list[Op]]:
    """Every pattern to its ops."""
    found: dict[str, list[Op]] = {}
    for op in ops().values():
        found.setdefault(layout_of(op.name).pattern, []).append(op)
    return found
