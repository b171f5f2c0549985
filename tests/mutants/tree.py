"""A copy of the tree under build/, where mutants are planted; its build lies in it, as a person's would."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
from dataclasses import dataclass

from edits import ROOT


@dataclass(frozen=True)
class Tree:
    """The copy, and the build of its preset release."""

    path: pathlib.Path

    @property
    def build(self) -> pathlib.Path:
        """Where it is built."""
        return self.path / "build" / "release"

    def refresh(self, instead: dict[str, str], *options: str) -> None:
        """Brings the copy up to the tree's files, some of which have other texts, and configures its build once, with options of cmake's."""
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout
        wanted = {name: instead[name].encode() if name in instead else (ROOT / name).read_bytes()
                  for name in {*filter(None, listed.split("\0")), *instead} if name in instead or (ROOT / name).is_file()}
        for name, text in wanted.items():
            target = self.path / name
            if not target.exists() or target.read_bytes() != text:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(text)
                if name not in instead:
                    shutil.copymode(ROOT / name, target)
        if not (self.build / "build.ninja").exists():
            self.require("cmake", "cmake", "--preset", "release", *options)

    def run(self, *command: str | pathlib.Path, **options: object) -> subprocess.CompletedProcess[str]:
        """Runs a command in the copy, its output kept."""
        return subprocess.run(command, cwd=self.path, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)

    def require(self, what: str, *command: str | pathlib.Path) -> None:
        """The same; ends with exit code 2 unless it succeeds."""
        done = self.run(*command)
        if done.returncode != 0:
            print(done.stdout[-4000:], file=sys.stderr)
            print(f"{what}: failed", file=sys.stderr)
            raise SystemExit(2)
