"""What a run was made with, from its manifest, for a reader.

A manifest of an older version may lack a key: what is not known is left out, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turntable.results import Run
from turntable_core.labels import DIGEST_SHOWN, differing_parameters, shown


@dataclass(frozen=True)
class Fact:
    name: str
    value: str
    full: str = ""  # of a shortened digest


def facts(run: Run) -> list[Fact]:
    manifest = run.manifest
    experiment = _digest("experiment", manifest.get("experiment_digest"))
    file = manifest.get("experiment_file")
    if experiment and file:
        experiment = Fact("experiment", f"{file} ({experiment.value})", experiment.full)
    found = [
        Fact("created", _time(manifest.get("created_at"))),
        Fact("testbed", _testbed(manifest)),
        _digest("inventory digest", manifest.get("inventory_digest")),
        experiment,
        Fact("extra variables", _pairs(manifest.get("extra_vars"))),
        Fact("git", _git(manifest.get("git"))),
        Fact("imported by git", _git((run.imported or {}).get("by"))),
        *_machine(manifest.get("machine") or {}),
        Fact("packages", _pairs(manifest.get("packages"), " ")),
    ]
    return [fact for fact in found if fact is not None and fact.value]


def digests(run: Run) -> list[tuple[str, list[Fact]]]:
    """Heading and SHA-256 by file."""
    groups = (
        ("Programs", "binaries"),
        ("P4 programs", "p4_programs"),
        ("P4 sources", "p4_sources"),
    )
    named = [(heading, run.manifest.get(key)) for heading, key in groups]
    named.append(("Imported files", (run.imported or {}).get("files")))
    result = []
    for heading, files in named:
        if files:
            result.append(
                (heading, [fact for path in files if (fact := _digest(path, files[path]))])
            )
    return result


def parameters(run: Run) -> list[Fact]:
    """Those all cells have in common as one value, the others as the list of their values."""
    cells = [cell.parameters for cell in run.cells]
    differing = differing_parameters(run.plan)
    result = []
    for name in cells[0]:
        values = list(dict.fromkeys(shown(cell[name]) for cell in cells if name in cell))
        result.append(Fact(name, ", ".join(values) if name in differing else values[0]))
    return result


def rules(run: Run) -> list[Fact]:
    return [
        Fact(
            name,
            "\N{EN DASH}".join(f"{v:g}" for v in value)
            if isinstance(value, list)
            else f"{value:g}",
        )
        for name, value in run.plan.validity.items()
    ]


def _digest(name: str, value: str | None) -> Fact | None:
    return Fact(name, value[:DIGEST_SHOWN], value) if value else None


def _time(text: str | None) -> str:
    return text.replace("T", " ").replace("+00:00", " UTC") if text else ""


def _testbed(manifest: Mapping[str, Any]) -> str:
    connections = manifest.get("connections") or {}
    kinds = ", ".join(sorted(set(connections.values())))
    hosts = f", {len(connections)} hosts by {kinds}" if connections else ""
    return f"{manifest.get('testbed', '')}{hosts}"


def _git(state: Mapping[str, Any] | None) -> str:
    if not state:
        return ""
    commit = state["commit"][:DIGEST_SHOWN]
    if state["clean"]:
        return f"{commit}, clean"
    count = len(state["changed"])
    return f"{commit} with {count} changed files: the commit alone does not say what ran"


def _machine(machine: Mapping[str, Any]) -> list[Fact]:
    memory = machine.get("memory_bytes")
    cpu = " \N{MULTIPLICATION SIGN} ".join(
        str(machine[key]) for key in ("cpus", "cpu") if machine.get(key)
    )
    return [
        Fact(
            "kernel", " ".join(filter(None, (machine.get("kernel"), machine.get("architecture"))))
        ),
        Fact("processor", cpu),
        Fact("memory", f"{memory / 2**30:.1f} GiB" if memory else ""),
        Fact("system", machine.get("os") or ""),
        Fact("Python", machine.get("python") or ""),
    ]


def _pairs(values: Mapping[str, Any] | None, separator: str = "=") -> str:
    return ", ".join(f"{name}{separator}{shown(value)}" for name, value in (values or {}).items())
