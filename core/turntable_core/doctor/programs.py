"""Programs: built, on every host, and everywhere those of the controller's build."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from turntable_core.checks import systems_for
from turntable_core.doctor.finding import OK, PROBLEM, Finding
from turntable_core.doctor.looks import HostView
from turntable_core.files import digest_of_file
from turntable_core.programs import command_that_builds, programs_of
from turntable_core.switch import driver_of
from turntable_core.system import System
from turntable_core.testbed import Testbed


def built(build: Path) -> dict[str, str]:
    """SHA-256 of the controller's build by file name; empty if there is none."""
    paths = [*build.glob("bin/*"), *build.glob("lib/p4/*")]
    return {path.name: digest_of_file(path) for path in paths if path.is_file()}


def findings(
    testbed: Testbed, views: Sequence[HostView], controller: Mapping[str, str], build: Path
) -> Iterator[Finding]:
    """controller: what `built` says about `build`."""
    lacking = {
        system.name: found
        for system in systems_for(testbed)
        if (found := _wanted(testbed, system) - controller.keys())
    }
    missing = sorted(set().union(*lacking.values()))
    no_p4 = testbed.switch and not any(name.endswith(".so") for name in controller)
    if missing or no_p4:
        what = ", ".join(missing) or "a P4 program"
        yield Finding(
            PROBLEM,
            "programs",
            f"{what} not built in {build}",
            command_that_builds(list(lacking)),
        )
        return
    wrong = False
    for view in views:
        if view.unreachable is None:
            for text in _differences(view, testbed, controller):
                wrong = True
                yield Finding(
                    PROBLEM,
                    "programs",
                    f"{view.name}: {text}",
                    "make build, then playbooks/provision.yml, bring all hosts to one build",
                )
    if not wrong and any(view.unreachable is None for view in views):
        yield Finding(OK, "programs", f"built; every host has those of {build}")


def _wanted(testbed: Testbed, system: System) -> set[str]:
    """Names of its programs on all hosts."""
    of_hosts = (
        Path(path).name for host in testbed.hosts for path in programs_of(host, testbed, [system])
    )
    return {*of_hosts, *system.controller_programs}


def _differences(view: HostView, testbed: Testbed, controller: Mapping[str, str]) -> Iterator[str]:
    found = _digests(view.text("programs"))
    for path in programs_of(view.host, testbed, systems_for(testbed)):
        name = Path(path).name
        if path not in found:
            yield f"{path} is missing"
        elif found[path] != controller[name]:
            yield f"{path} is another build than the controller's"
    if view.host == testbed.switch and driver_of(testbed.switch).p4_files:
        programs = _digests(view.text("p4"))
        if not programs:
            yield f"no P4 program in {testbed.switch.p4_dir}"
        for name, digest in programs.items():
            if controller.get(name, digest) != digest:
                yield f"P4 program {name} is another build than the controller's"


def _digests(text: str) -> dict[str, str]:
    """File -> SHA-256, from sha256sum's output; complaints are passed over."""
    rows = (line.split(maxsplit=1) for line in text.splitlines())
    return {row[1]: row[0] for row in rows if len(row) == 2 and len(row[0]) == 64}
