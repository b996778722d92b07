"""Checks that the pins install on the Python of every supported distribution.

Asks the package index, through pip and for each of those Pythons, for every version in
constraints.txt as a wheel; then follows what requirements.txt needs through the wheels' metadata:
each package needed is pinned, at a version that is allowed, and each pin is needed. The same with
requirements-lab.txt and constraints-lab.txt, and with the environments of clients that tests have.
Pins that passed are remembered in .cache, for published files do not change.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

PYTHONS = {"3.11.2": "Debian 12", "3.12.3": "Ubuntu 24.04"}
# Requirements -> where their pins are.
PINNED = {
    Path("requirements.txt"): (Path("constraints.txt"),),
    Path("requirements-lab.txt"): (Path("constraints.txt"), Path("constraints-lab.txt")),
    # Environments of their own, each of one published client.
    **{
        Path(f"tests/p4runtime/clients/{name}.txt"): (
            Path(f"tests/p4runtime/clients/{name}-constraints.txt"),
        )
        for name in ("finsy", "shell")
    },
}
REMEMBERED = Path(".cache/pins")
NOTHING_NEEDS = "nothing needs the pin"
PIN_ANOTHER = "expected: every pin installs on it. Pin another version"


class PinsError(Exception):
    """Pip does not find every pin."""


def main() -> int:
    files = {Path(__file__), *PINNED, *(path for pins in PINNED.values() for path in pins)}
    read = b"".join(path.read_bytes() for path in sorted(files))
    asked = hashlib.sha256(read).hexdigest()
    if REMEMBERED.exists() and REMEMBERED.read_text() == asked:
        return 0
    with ThreadPoolExecutor() as threads:
        tasks = {
            (python, requirements): threads.submit(check, python, requirements, *constraints)
            for python in PYTHONS
            for requirements, constraints in PINNED.items()
        }
    told = {key: task.result() for key, task in tasks.items()}
    status = 0
    for (python, requirements), found in told.items():
        for problem in found:
            everywhere = all(problem in told[other, requirements] for other in PYTHONS)
            if problem.startswith(NOTHING_NEEDS) and not everywhere:
                continue  # another Python needs it
            print(f"pins of {requirements}: Python {python} ({PYTHONS[python]}): {problem}")
            status = 1
    if status == 0:
        REMEMBERED.parent.mkdir(exist_ok=True)
        REMEMBERED.write_text(asked)
    return status


def check(python: str, requirements: Path, *constraints: Path) -> list[str]:
    """One message per problem with the pins on that Python."""
    try:
        metadata = metadata_of_pins(python, constraints)
    except PinsError as error:
        return [str(error)]
    return list(problems(python, requirements.name, requirements_of(requirements), metadata))


def metadata_of_pins(python: str, constraints: Iterable[Path]) -> list[dict[str, Any]]:
    """The metadata of every pin, as on the index; nothing is installed.

    Pip would compare Requires-Python with the Python that it runs on as well.
    """
    with tempfile.TemporaryDirectory(prefix="turntable-pins-") as target:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--report=-", "--dry-run"]
        command += ["--ignore-installed", "--ignore-requires-python", "--no-deps"]
        command += ["--only-binary=:all:", f"--python-version={python}", f"--target={target}"]
        command += [f"--requirement={path}" for path in constraints]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PinsError(why(done.stderr))
    return [package["metadata"] for package in json.loads(done.stdout)["install"]]


def why(said: str) -> str:
    """What is wrong, from what pip said."""
    missing = re.search(r"No matching distribution found for (\S+?)==(\S+)", said)
    if missing is None or "(from versions: none)" in said:
        return f"expected an answer of the package index for every pin, but pip said:\n{said}"
    name, version = missing.groups()
    return f"the index has no wheel of {name}=={version} for it; {PIN_ANOTHER}"


def requirements_of(path: Path) -> list[Requirement]:
    """Those of a file and of the files that it includes."""
    lines = path.read_text().splitlines()
    included = [line.split()[1] for line in lines if line.startswith("-r ")]
    own = [Requirement(line) for line in lines if re.match(r"\w", line)]
    return own + [each for name in included for each in requirements_of(path.with_name(name))]


def problems(
    python: str, file: str, requirements: list[Requirement], metadata: list[dict[str, Any]]
) -> Iterator[str]:
    """What does not fit together, by the metadata of the pins. file: which has the requirements."""
    pins = {canonicalize_name(package["name"]): package for package in metadata}
    for name, pin in pins.items():
        if not SpecifierSet(pin.get("requires_python", "")).contains(python):
            yield f"{name}=={pin['version']} needs Python {pin['requires_python']}; {PIN_ANOTHER}"
    waiting = [(requirement, file) for requirement in requirements]
    seen = set()
    while waiting:
        requirement, needed_by = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name not in pins:
            yield f"{needed_by} needs {requirement}, which has no pin"
            continue
        pin = pins[name]
        if not requirement.specifier.contains(pin["version"], prereleases=True):
            yield f"{needed_by} needs {requirement}, but the pin is {name}=={pin['version']}"
        for extra in ("", *sorted(requirement.extras)):
            if (name, extra) not in seen:
                seen.add((name, extra))
                waiting += [(needed, name) for needed in needs_of(pin, python, extra)]
    for name in sorted(pins.keys() - {name for name, _ in seen}):
        yield f"{NOTHING_NEEDS} {name}=={pins[name]['version']}"


def needs_of(pin: dict[str, Any], python: str, extra: str) -> Iterator[Requirement]:
    minor = ".".join(python.split(".")[:2])
    environment = {"python_version": minor, "python_full_version": python, "extra": extra}
    for line in pin.get("requires_dist", []):
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate(environment):
            yield requirement


if __name__ == "__main__":
    sys.exit(main())
