"""The released YCSB with the binding of src/farreach/ycsb: its command line on a rack's client
host, and what it says.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.crash.network import CLIENT
from tests.crash.rack import SCALE, Rack
from turntable_bench.handshake import secret_option
from turntable_systems.farreach import hosts

DEADLINE_S = 300
THREADS = 8  # at most as many as the rack's `clients`: servers put so many large values together

_QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")  # to start

CORE_WORKLOAD = "site.ycsb.workloads.CoreWorkload"
# Workload A as YCSB's documentation defines it; what is not said is YCSB's own default.
WORKLOAD_A = {
    "workload": CORE_WORKLOAD,
    "readproportion": 0.5,
    "updateproportion": 0.5,
    "requestdistribution": "zipfian",
}
ONE_FIELD = {"fieldcount": 1, "fieldlength": 128}


@dataclass(frozen=True)
class Said:
    """What a YCSB process has left behind."""

    text: str  # standard output and error
    status: int
    statistics: Mapping[str, Any] | None  # of the binding; None: it wrote none

    def count(self, operation: str, what: str = "OK") -> int:
        """Of the line `[OPERATION], Return=WHAT, 5`; 0 where there is none."""
        head = f"[{operation}], Return={what}, "
        lines = [line for line in self.text.splitlines() if line.startswith(head)]
        return sum(int(line.removeprefix(head)) for line in lines)

    def value(self, section: str, name: str) -> float:
        """Of the line `[SECTION], NAME, 5.0`."""
        head = f"[{section}], {name}, "
        (line,) = [line for line in self.text.splitlines() if line.startswith(head)]
        return float(line.removeprefix(head))

    def total(self, field: str) -> int:
        """A field of the statistics' partitions, summed."""
        assert self.statistics is not None, self.text
        return sum(row[field] for row in self.statistics["partitions"])


class Ycsb:
    """YCSB on the client host of a rack."""

    def __init__(self, rack: Rack, class_path: str, directory: Path) -> None:
        self._rack, self._class_path, self._directory = rack, class_path, directory
        directory.mkdir(exist_ok=True)

    def run(self, *options: str, **properties: Any) -> Said:
        """To its end."""
        return self.end(self.begin(*options, **properties))

    def begin(self, *options: str, **properties: Any) -> subprocess.Popen[str]:
        """`options` as YCSB has them: -load, -t, -P FILE; `properties` as with -p, those of the
        binding with `kv_` instead of `kv.`.
        """
        (self._directory / "statistics").unlink(missing_ok=True)
        all_of_them = self._properties() | {
            name.replace("kv_", "kv."): value for name, value in properties.items()
        }
        given = [word for name, value in all_of_them.items() for word in ("-p", f"{name}={value}")]
        client = ["site.ycsb.Client", *options, "-db", "turntable.ycsb.KvClient", *given]
        threads = ["-threads", str(THREADS)]
        java = ["java", *_QUICK, "-cp", self._class_path, *client, *threads]
        return subprocess.Popen(
            ["ip", "netns", "exec", self._rack.network.namespace(CLIENT), *java],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def end(self, process: subprocess.Popen[str]) -> Said:
        text, _ = process.communicate(timeout=DEADLINE_S)
        print(text)
        file = self._directory / "statistics"
        statistics = json.loads(file.read_text()) if file.exists() else None
        return Said(text, process.returncode, statistics)

    def _properties(self) -> dict[str, Any]:
        server = hosts.servers(self._rack.testbed)[0]
        _, secret = secret_option(self._directory)
        controller = self._rack.controller
        return {
            "kv.server": server.address,
            "kv.servers": SCALE,
            "kv.timeout_ms": 200,
            "kv.release_s": 0,
            "kv.statistics": self._directory / "statistics",
        } | (
            {
                "kv.controller": f"{controller['address']}:{controller['port']}",
                "kv.secret": secret,
            }
            if self._rack.setup.caches
            else {}
        )
