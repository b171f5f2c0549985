#!/usr/bin/env python3
"""The engine beside llama.cpp: the same files, the same threads, in turn.

    engine.py PROGRAMS FOLDER OUT.json [--types q4_k_m,q8_0,f16] [--threads 1,2] [--rounds N] [--prefills 128,512,4096] [--depth N]

PROGRAMS has assay and peer_pace. FOLDER keeps the model files (`assay synth`, the shape of Qwen3-0.6B with a vocabulary of its size). The
peer's settings (flash attention, repacked weights, tokens of a micro-batch) are tried first, and it runs with its best. Each round asks both
engines for each figure, one after the other, with the roofs between; a figure is the median over rounds, a ratio the median of the rounds'.
"""
from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
from pathlib import Path

import llama_cpp

HERE = Path(__file__).resolve().parent
SHAPE = "qwen3-0.6b"
DECODED = 32  # tokens a reading
SETTINGS = [{"flash": flash, "repack": repack, "ubatch": ubatch} for flash, repack, ubatch in itertools.product((1, 0), (True, False), (512,))]


class Side:
    """A process that answers commands, and how many tokens it holds."""

    def __init__(self, *command: str | Path) -> None:
        self.length = 0
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, command: str) -> dict[str, float]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"engine: {self.process.args[0]} ended at '{command}'")
        answer = json.loads(line)
        if "tokens" in answer:
            self.length = answer["tokens"] + (self.length if command.startswith("decode") else 0)
        return answer

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def ours(programs: Path, model: Path, threads: int, context: int) -> Side:
    return Side(programs / "peer_pace", model, str(threads), "f16", str(context))


def theirs(model: Path, threads: int, context: int, settings: dict[str, int | bool]) -> Side:
    return Side(sys.executable, HERE / "llama_pace.py", model, str(threads), "f16", str(context), json.dumps(settings))


def best_settings(model: Path, threads: int) -> dict[str, dict[str, int | bool]]:
    """The peer's fastest for prefill and for decode, each tried three times."""
    found: dict[str, list[float]] = {}
    for settings in SETTINGS:
        side = theirs(model, threads, 1024, settings)
        times = [(side.ask("prefill 512")["seconds"], side.ask(f"decode {DECODED}")["seconds"]) for _ in range(3)]
        side.close()
        found[json.dumps(settings)] = [min(column) for column in zip(*times, strict=True)]
    return {name: json.loads(min(found, key=lambda key: found[key][i])) for i, name in enumerate(("prefill", "decode"))}


def steps_of(prefills: list[int], depth: int) -> list[tuple[str, str, int]]:
    """Figure, command, and how many tokens come before it."""
    found = [(f"prefill {count}", f"prefill {count}", 0) for count in prefills]
    return [*found, (f"decode at {depth}", f"decode {DECODED}", depth), ("decode at 0", f"decode {DECODED}", 1)]


def reading(side: Side, command: str, before: int) -> float:
    """Tokens a second."""
    if before and side.length != before:
        side.ask(f"prefill {before}")
    answer = side.ask(command)
    return answer["tokens"] / answer["seconds"]


def share(figure: str, pace: float, kind: str, work: dict[str, float], roofs: dict[str, float]) -> float:
    """Per cent of the roof that bounds it: memory for decode, arithmetic for prefill."""
    name, count = figure.rsplit(" ", 1)
    if name == "prefill":
        return 100 * pace * work["operations"] / roofs["f32" if kind == "f16" else "int8"]
    read = work["weights"] + work["position"] * (int(count) + DECODED / 2)
    return 100 * pace * read / roofs["read"]


def compare(options: argparse.Namespace, model: Path, kind: str, threads: int) -> dict[str, object]:
    context = max(options.depth, *options.prefills) + 2 * DECODED
    settings = best_settings(model, threads)
    sides = {"ours": ours(options.programs, model, threads, context), "prefill peer": theirs(model, threads, context, settings["prefill"])}
    if settings["decode"] != settings["prefill"]:
        sides["decode peer"] = theirs(model, threads, context, settings["decode"])
    figures: dict[str, dict[str, list[float]]] = {}
    readings, loads = [], []
    for _ in range(options.rounds):
        first, again = sides["ours"].ask("load"), sides["ours"].ask("load")
        loads.append({**again, "first": first["weights"]})
        for figure, command, before in steps_of(options.prefills, options.depth):
            readings.append(sides["ours"].ask("roofs"))
            peer = sides.get(f"{figure.split()[0]} peer", sides["prefill peer"])
            both = figures.setdefault(figure, {"ours": [], "theirs": []})
            both["ours"].append(reading(sides["ours"], command, before))
            both["theirs"].append(reading(peer, command, before))
    roofs = {name: statistics.median(found[name] for found in readings) for name in readings[0]}
    work = sides["ours"].ask("work")
    for side in sides.values():
        side.close()
    rows = []
    for figure, found in figures.items():
        ratios = [a / b for a, b in zip(found["ours"], found["theirs"], strict=True)]
        pace = statistics.median(found["ours"])
        rows.append({"figure": figure, "ours": pace, "theirs": statistics.median(found["theirs"]), "ratio": statistics.median(ratios),
                     "percent_of_roof": share(figure, pace, kind, work, roofs)})
    load = {name: statistics.median(found[name] for found in loads) for name in loads[0]}
    load["reads"] = load["weights"] * roofs["read"] / model.stat().st_size  # reading the file at the roof takes one
    return {"threads": threads, "settings": settings, "roofs": roofs, "work": work, "load": load, "rows": rows}


def print_table(kind: str, result: dict[str, object]) -> None:
    roofs, settings = result["roofs"], result["settings"]
    print(f"\n{kind}, {result['threads']} threads; read {roofs['read'] / 1e9:.1f} GB/s, f32 {roofs['f32'] / 1e9:.0f} Gop/s, bytes {roofs['int8'] / 1e9:.0f} Gop/s")
    print(f"  peer for prefill {json.dumps(settings['prefill'])}, for decode {json.dumps(settings['decode'])}")
    load = result["load"]
    print(f"  ours is ready after {load['weights']:.3f} s, {load['reads']:.1f} times reading the file at the roof, on memory that was in use just before;"
          f" else after {load['first']:.3f} s; the tokenizer takes {load['tokenizer']:.3f} s")
    print(f"  {'':16}{'ours':>10}{'peer':>10}{'ratio':>8}{'of the roof':>13}")
    for row in result["rows"]:
        print(f"  {row['figure']:16}{row['ours']:10.1f}{row['theirs']:10.1f}{row['ratio']:8.2f}{row['percent_of_roof']:11.1f} %", flush=True)


def model_file(programs: Path, folder: Path, kind: str) -> Path:
    path = folder / f"{SHAPE}-{kind}.gguf"
    if not path.exists():
        subprocess.run([programs / "assay", "synth", "--like", SHAPE, "--type", kind, "-o", path], check=True, stdout=sys.stderr)
    return path


def main() -> None:
    """Compares, prints, and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--types", default="q4_k_m,q8_0,f16")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prefills", type=lambda text: [int(word) for word in text.split(",")], default=[128, 512, 4096])
    parser.add_argument("--depth", type=int, default=4096)
    options = parser.parse_args()
    print(f"llama-cpp-python {llama_cpp.__version__}: {llama_cpp.llama_print_system_info().decode()}")
    results = []
    for kind, threads in itertools.product(options.types.split(","), options.threads.split(",")):
        model = model_file(options.programs, options.folder, kind)
        result = compare(options, model, kind, int(threads))
        print_table(kind, result)
        results.append({"type": kind, **result})
    options.out.write_text(json.dumps({"peer": llama_cpp.__version__, "shape": SHAPE, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
