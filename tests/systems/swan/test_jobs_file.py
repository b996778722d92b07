"""A jobs file of one's own: what is wrong with it is said before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable_core.errors import TurntableError
from turntable_systems.swan import aggressors

GOOD = """\
own:
  command: [sh, -c, "compute {cpus} {directory} >/dev/null"]
  placement: l3
  probe: {kind: cpu, seconds: 0.5}
"""


def read(tmp_path: Path, text: str) -> aggressors.Job:
    file = tmp_path / "my.yml"
    file.write_text(text, encoding="utf-8")
    return aggressors.known({"aggressors_file": str(file)})["own"]


def test_shipped_jobs_and_an_own_one_are_known(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD)["probe"] == {"kind": "cpu", "seconds": 0.5}


def test_the_part_of_a_cache_is_the_jobs_own_setting(tmp_path: Path) -> None:
    text = GOOD.replace("{cpus}", "{cache_ways}") + "  cache: {level: 2, kib: 512}\n"
    assert read(tmp_path, text)["cache"] == {"level": 2, "kib": 512}
    shipped = aggressors.known({"aggressors_file": None})["stress-ng-cache-l3"]
    at = shipped["command"].index("--cache-ways")
    assert (shipped["command"][at + 1], shipped["cache"]["level"]) == ("{cache_ways}", 3)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("cpu, seconds: 0.5", "cpu", r"my.yml:4.*own.probe.seconds.*processor time"),
        ("cpu, seconds: 0.5", "line", r"own.probe.pattern.*line"),
        ("cpu, seconds: 0.5", "file", r"own.probe.path.*there"),
        ("{cpus}", "{cpu}", r"my.yml:2.*own.command.2.*only {count}, {cpus}"),
        ("cpu, seconds: 0.5", "file, path: '{home}/up'", r"own.probe.path.*only {count}"),
        ("{cpus}", "{cache_ways}", r"own.cache.*{level: 3, kib: 16384}"),
    ],
)
def test_what_the_host_would_refuse_is_refused_here(
    tmp_path: Path, before: str, after: str, says: str
) -> None:
    with pytest.raises(TurntableError, match=says):
        read(tmp_path, GOOD.replace(before, after))
