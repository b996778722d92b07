"""What the command line decides for all measurements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    build: Path
    rounds: int
    program: str  # that the switch runs: a P4 program, or static_forwarder (no tables at all)

    def binary(self, name: str) -> Path:
        return self.build / "bin" / name
