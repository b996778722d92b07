"""The CMake target of the system: what its runs need, and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from turntable_core.programs import programs_of
from turntable_core.testbed import read_testbed
from turntable_systems.farreach import SYSTEM

from .testbeds import GROUPS, hostvars

REPOSITORY = Path(__file__).resolve().parents[3]


def test_the_target_of_a_system_is_what_its_hosts_and_its_plan_need() -> None:
    build = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    said = (build / "system_programs" / "farreach").read_text()
    testbed = read_testbed(hostvars(), GROUPS)
    needed = {
        Path(path).name for host in testbed.hosts for path in programs_of(host, testbed, [SYSTEM])
    }
    names = re.fullmatch(r"9 programs \((.*)\) and 3 P4 programs \((.*)\)\n", said)
    assert set(names[1].split()) == needed | {*SYSTEM.controller_programs}
    assert names[2].split() == ["nocache", "farreach", "netcache"]


def test_the_target_of_a_system_compiles_no_tests_and_no_benchmarks() -> None:
    build = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    inputs = subprocess.run(
        ["ninja", "-C", build, "-t", "inputs", "farreach"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    objects = [path for path in inputs if path.endswith(".o")]
    # Several sources may be compiled as one, so the objects are known by their targets alone.
    targets = {
        match[1] for path in objects if (match := re.search(r"/CMakeFiles/(.+?)\.dir/", path))
    }
    assert {"kvserver", "p4_netcache"} <= targets
    assert [target for target in sorted(targets) if target.endswith("_test")] == []
    assert [path for path in objects if "/bench/" in path] == []
