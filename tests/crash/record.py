"""What was done to a rack and when, for whoever looks for the cause of a failure: a line of JSON
per event in its directory. Instants are CLOCK_REALTIME, as those of histories.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

FILE_NAME = "events.ndjson"


class Record:
    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME

    def note(self, event: str, **facts: Any) -> None:
        line = {"at_ns": time.time_ns(), "event": event} | facts
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
