"""What the command line decides for all measurements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Settings:
    build: Path
    rounds: int
    program: str  # that the switch runs: a P4 program, or static_forwarder (no tables at all)

    def binary(self, name: str) -> Path:
        return self.build / "bin" / name

    def bench_program(self, name: str) -> Path:
        """The library of a program that exists for the measurements only."""
        return self.build / "lib" / "bench" / f"{name}.so"
