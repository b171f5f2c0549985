"""The block formats, a row each: the recorders' one list of them. Layouts: kernels/formats/blocks.h, docs/formats.md; values: blocks.py."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    name: str
    number: int  # in GGUF files and in ggml
    elements: int  # of a block
    size: int  # bytes of a block
    halves: tuple[int, ...]  # where its f16 scales lie; q8_k has an f32 at 0
    codes: tuple[int, int]  # smallest and largest q
    zero: int = 0  # what is subtracted from a stored code
    subs: int = 1  # sub-blocks with a scale of their own
    minimum: str = ""  # "sub-blocks": w = d scale q - dmin minimum; "offset": w = d q + m
    dots: str = ""  # the activations of its products by blocks; none: it has no such op

    @property
    def has_minimum(self) -> bool:
        return self.minimum == "sub-blocks"

    @property
    def has_offset(self) -> bool:
        return self.minimum == "offset"


FORMATS = {f.name: f for f in (
    Format("q4_0", 2, 32, 18, (0,), (-8, 7), zero=8, dots="q8_0"),
    Format("q4_1", 3, 32, 20, (0, 2), (0, 15), minimum="offset", dots="q8_0"),
    Format("q5_0", 6, 32, 22, (0,), (-16, 15), zero=16, dots="q8_0"),
    Format("q5_1", 7, 32, 24, (0, 2), (0, 31), minimum="offset"),
    Format("q8_0", 8, 32, 34, (0,), (-128, 127), dots="q8_0"),
    Format("q4_k", 12, 256, 144, (0, 2), (0, 15), subs=8, minimum="sub-blocks", dots="q8_k"),
    Format("q5_k", 13, 256, 176, (0, 2), (0, 31), subs=8, minimum="sub-blocks", dots="q8_k"),
    Format("q6_k", 14, 256, 210, (208,), (-32, 31), zero=32, subs=16, dots="q8_k"),
    Format("q8_k", 15, 256, 292, (), (-128, 127)))}
PARTNER = {f.name: f.dots for f in FORMATS.values() if f.dots}
# Those whose products ggml has by the same activations: it multiplies a format with an offset by q8_1.
GGML_PARTNER = {name: x for name, x in PARTNER.items() if not FORMATS[name].has_offset}
