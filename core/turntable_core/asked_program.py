"""A program of the controller that planning asks: a question on its standard input, an answer on
its standard output, both JSON.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

from turntable_core.errors import PhaseError, TurntableError

_TICK_S = 1.0
_SHOWN = 500  # characters of a question, in a message
_SHOWN_OF_TEXT = 60  # and of a text in it, which may be a whole file


class AskedProgram:
    """A process for each question."""

    def __init__(
        self, program: Path, system: str, deadline_s: float, while_waiting: Callable[[], None]
    ) -> None:
        """system: whose programs it is among. deadline_s: of an answer. while_waiting: called
        every second.
        """
        self._program = program
        self._system = system
        self._deadline_s = deadline_s
        self._while_waiting = while_waiting

    def ask(self, question: Mapping[str, Any]) -> Any:
        """Raises TurntableError with what the program says against the question."""
        text = json.dumps(question)
        with self._started() as process:
            try:
                output, error = self._output_of(process, text)
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            raise TurntableError(
                f"{self._program} ended with status {process.returncode}: {error.strip()}. "
                f"Asked was: {_cut(json.dumps(_shown(question), ensure_ascii=False), _SHOWN)}"
            )
        return json.loads(output)

    def _started(self) -> subprocess.Popen[str]:
        try:
            return subprocess.Popen(
                [str(self._program)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        except FileNotFoundError:
            raise TurntableError(
                f"{self._program} does not exist; build it with "
                f"`make programs SYSTEM={self._system}`"
            ) from None

    def _output_of(self, process: subprocess.Popen[str], text: str) -> tuple[str, str]:
        end, unsent = monotonic() + self._deadline_s, text
        while (left_s := end - monotonic()) > 0:
            with suppress(subprocess.TimeoutExpired):
                return process.communicate(unsent, timeout=min(_TICK_S, left_s))
            unsent = None  # what is on its way is sent on
            self._while_waiting()
        raise PhaseError(
            "timeout",
            f"planning: no answer of {self._program} within {self._deadline_s:g} s; this machine "
            "is too busy (`uptime` shows its load): free it, then run the same command again",
        )


def _shown(value: Any) -> Any:
    """The same without long texts."""
    if isinstance(value, str):
        first_line, *_ = value.splitlines() or [""]
        return _cut(value, min(_SHOWN_OF_TEXT, len(first_line)))
    if isinstance(value, Mapping):
        return {name: _shown(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(part) for part in value]
    return value


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} … ({len(text)} characters)"
