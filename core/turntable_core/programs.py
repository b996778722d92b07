"""Programs of the controller's build and their copies on hosts."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from turntable_core.connections import Command, HostConnections
from turntable_core.errors import PhaseError, TurntableError
from turntable_core.files import digest_of_file
from turntable_core.switch import driver_of
from turntable_core.system import System
from turntable_core.testbed import Host, SwitchHost, Testbed

_DEADLINE_S = 30.0


def programs_of(host: Host, testbed: Testbed, wanted: Iterable[System]) -> list[str]:
    """Absolute paths of the files that the host needs to have for these systems."""
    names = ["supervisor", "nodectl"]
    if isinstance(host, SwitchHost):
        names += driver_of(host).programs
        names += [name for system in wanted for name in system.switch_programs]
    for role in (role for system in wanted for role in system.roles):
        hosts = testbed.hosts_of(role.group)
        names += role.programs if host in hosts else ()
        names += role.programs_of_first if host in hosts[:1] else ()
    return [f"{host.bin_dir}/{name}" for name in dict.fromkeys(names)]


def require_build(
    connections: HostConnections, testbed: Testbed, system: System, build: Path
) -> None:
    """Every host has the programs of `build`, whose digests are in the run's manifest.

    Raises PhaseError (`environment`); TurntableError where the build lacks some. Hosts that use the
    build itself are not asked.
    """
    wanted: dict[str, dict[str, str]] = {}
    for host in testbed.hosts:
        if Path(host.bin_dir) == build / "bin":
            names = map(_name, programs_of(host, testbed, [system]))
            require_built(build / "bin", names, system.name)
        else:
            wanted[host.name] = _wanted(host, testbed, system, build)
    commands = [Command(name, digest_command("/", paths)) for name, paths in wanted.items()]
    different = []
    for name, outcome in connections.run(commands, _DEADLINE_S).items():
        if outcome.failure:
            raise PhaseError(outcome.failure, f"host {name}: {outcome.message}")
        there = parse_digests(outcome.stdout.decode(errors="replace"))
        different += [
            f"host {name}: {path} is {'another build' if path in there else 'missing'}"
            for path, digest in wanted[name].items()
            if there.get(path) != digest
        ]
    if different:
        raise PhaseError(
            "environment",
            "\n".join(different)
            + f"\nexpected the programs of {build}. Run playbooks/provision.yml",
        )


def _wanted(host: Host, testbed: Testbed, system: System, build: Path) -> dict[str, str]:
    """Path on the host -> SHA-256 of the build."""
    names = [_name(path) for path in programs_of(host, testbed, [system])]
    digests = digests_of_build(build / "bin", names, system.name)
    wanted = {f"{host.bin_dir}/{name}": digest for name, digest in digests.items()}
    if isinstance(host, SwitchHost):
        for pattern in driver_of(host).p4_files:
            for file in sorted(build.glob(f"lib/p4/{pattern}")):
                wanted[f"{host.p4_dir}/{file.name}"] = digest_of_file(file)
    return wanted


def digests_of_build(
    source: Path, names: Iterable[str], system: str | None = None
) -> dict[str, str]:
    """Name -> SHA-256 of the files of `source`; an error names those that are missing."""
    wanted = list(names)
    require_built(source, wanted, system)
    return {name: digest_of_file(source / name) for name in wanted}


def require_built(source: Path, names: Iterable[str], system: str | None = None) -> None:
    """system: whose programs they are; None: several systems'."""
    missing = [name for name in names if not (source / name).is_file()]
    if missing:
        raise TurntableError(
            f"{source}: no {', '.join(missing)}; expected the programs to be built. Run: "
            + command_that_builds([system] if system else [])
        )


def command_that_builds(systems: Sequence[str]) -> str:
    return f"make programs SYSTEM={systems[0]}" if len(systems) == 1 else "make build"


def _name(path: str) -> str:
    return Path(path).name


def digest_command(directory: str, names: Iterable[str]) -> str:
    """A shell command that prints the digests of those files that exist; see parse_digests."""
    files = shlex.join(names)
    return f"cd {shlex.quote(directory)} 2>/dev/null && sha256sum -- {files} 2>/dev/null; true"


def parse_digests(output: str) -> dict[str, str]:
    """Name -> SHA-256 from sha256sum's output."""
    pairs = (line.split(None, 1) for line in output.splitlines())
    return {pair[1].lstrip("*"): pair[0] for pair in pairs if len(pair) == 2}


def install_command(staged: str, directory: str, names: Iterable[str]) -> str:
    """A shell command that gives `directory` the files of `staged`.

    Each takes its name at once, whole: a program that runs meanwhile keeps the old file.
    """
    there = shlex.quote(directory)
    steps = [f"mkdir -p -- {there}"]
    for name in names:
        source, target = shlex.quote(f"{staged}/{name}"), shlex.quote(name)
        steps.append(f"install -m 0755 -- {source} {there}/.{target}.new.$$")
        steps.append(f"mv -f -- {there}/.{target}.new.$$ {there}/{target}")
    return " && ".join(steps)


def libraries_command(directory: str, names: Iterable[str]) -> str:
    """A shell command that prints which shared libraries the files need; see missing_libraries."""
    # Files that are no programs have none; ldd says so with a status of its own.
    return f"cd {shlex.quote(directory)} && LC_ALL=C ldd {shlex.join('./' + n for n in names)} 2>&1"


def missing_libraries(output: str) -> list[str]:
    """What the loader did not find, in ldd's words: `librocksdb.so.7.8`, or a version of a library
    that is there (``libc.so.6: version `GLIBC_2.38'``).
    """
    missing = re.findall(r"^\s*(\S+) => not found", output, re.MULTILINE)
    versions = re.findall(r"/([^/\s]+: version `[^']+') not found", output)
    return list(dict.fromkeys(missing + versions))


def package_of(library: str, program: Path) -> str | None:
    """The Debian package that gives the controller `library`, which `program` needs; None if
    unknown.
    """
    listing = _output(["ldd", str(program)])
    found = re.search(rf"^\s*{re.escape(library)} => (/\S+)", listing, re.MULTILINE)
    if not found:
        return None
    # Packages name files by the path they had before /lib became a link to /usr/lib, or after.
    path = Path(found.group(1)).resolve()
    for candidate in (found.group(1), str(path), str(path).removeprefix("/usr")):
        owner = _output(["dpkg-query", "--search", candidate])
        if owner:
            return owner.split(":", 1)[0]
    return None


def library_packages(programs: Iterable[str]) -> list[str]:
    """The Debian packages of all shared libraries that these programs need, as on this machine;
    without libraries that belong to no package.
    """
    listing = _output(["ldd", *programs])
    paths = {Path(path).resolve() for path in re.findall(r"=> (/\S+)", listing)}
    # Packages name files by the path they had before /lib became a link to /usr/lib, or after.
    names = [str(path) for path in paths] + [str(path).removeprefix("/usr") for path in paths]
    owners = _output(["dpkg-query", "--search", *names]) if names else ""
    return sorted({line.split(":", 1)[0] for line in owners.splitlines()})


def _output(argv: list[str]) -> str:
    try:
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
