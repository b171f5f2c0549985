#!/usr/bin/env python3
"""palette.py PAGE...: the colours of a page's kinds and classes, light and dark, as people with each kind of colour blindness see them: any two
kinds, and neighbours of the map's classes, must be told apart. Colours are simulated by Viénot, Brettel and Mollon's projections (protan, deutan)
and Brettel's for tritan, in the linear RGB form of Viénot 1999; distances are CIE76 in CIELAB."""
import itertools
import re
import sys
from pathlib import Path

KINDS = 20.0       # the least distance of two kinds; a just noticeable difference is 2.3
NEIGHBOURS = 4.0   # of two neighbouring classes of the map
CONTRAST = 3.0     # WCAG's for graphics, against the page

# Rows of the matrix that acts on linear RGB.
SIGHTS = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1)),
    "deutan": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1)),
    "tritan": ((1, 0.14461, -0.14461), (0, 0.85924, 0.14076), (0, 0.85924, 0.14076)),
}
ALIKE = {frozenset(("embedding", "logits"))}  # one kind: the two ends of a model


def linear(text):
    values = [int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]


def lab(rgb):
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.95047, 1.0, 1.08883)
    x, y, z = (sum(a * b for a, b in zip(row, rgb)) / w for row, w in zip(rows, white))
    f = [max(v, 0) ** (1 / 3) if v > 0.008856 else 7.787 * max(v, 0) + 16 / 116 for v in (x, y, z)]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def seen(colour, sight):
    rgb = linear(colour)
    return lab([min(1, max(0, sum(a * b for a, b in zip(row, rgb)))) for row in SIGHTS[sight]])


def distance(a, b, sight):
    return sum((x - y) ** 2 for x, y in zip(seen(a, sight), seen(b, sight))) ** 0.5


def luminance(colour):
    r, g, b = linear(colour)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def wrong(kinds, classes, page):
    out = []
    for sight in SIGHTS:
        for (a, x), (b, y) in itertools.combinations(kinds.items(), 2):
            if frozenset((a, b)) not in ALIKE and distance(x, y, sight) < KINDS:
                out.append(f"{sight}: {a} and {b} are {distance(x, y, sight):.1f} apart, expected {KINDS}")
        for a, b in itertools.pairwise(classes):
            if distance(a, b, sight) < NEIGHBOURS:
                out.append(f"{sight}: the classes {a} and {b} are {distance(a, b, sight):.1f} apart, expected {NEIGHBOURS}")
    out += [f"{name} {colour} has a contrast of {contrast(colour, page):.1f} with the page, expected {CONTRAST}"
            for name, colour in kinds.items() if contrast(colour, page) < CONTRAST]
    return out


def main():
    page, style = (Path(one).read_text() for one in sys.argv[1:])
    failed = False
    for scheme in (0, 1):  # light, then dark
        variables = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", re.findall(r":root \{(.*?)\}", page, re.S)[scheme]))
        ground = re.findall(r"--page: (#[0-9a-f]{6})", style)[scheme]
        kinds = {k: v for k, v in variables.items() if not re.fullmatch(r"h\d+", k)}
        classes = [variables[f"h{i}"] for i in range(11)]
        if len(kinds) < 8:
            sys.exit(f"only {len(kinds)} kinds are found")
        for line in wrong(kinds, classes, ground):
            print(("light", "dark")[scheme] + ": " + line)
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
