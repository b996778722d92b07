"""Holds imports to one direction (core, systems, analysis, actions) and forbids circles of modules.
C++ is held to the same: libraries in src/ do not include headers of a system.

Imports for type checkers alone (`if TYPE_CHECKING`) keep the direction, but close no circle:
nothing is loaded for them. Imports inside of functions are imports like others.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

# Where packages lie -> packages that their modules may not import, and why.
RULES = {
    "core": (
        ("turntable_systems", "turntable"),
        "the core knows no system and no analysis",
    ),
    "systems": (
        ("turntable",),
        "a run does not need the analysis; a system names its part of it (System.analysis)",
    ),
    "plugins/module_utils": (
        ("turntable_core", "turntable_inventory", "turntable_systems", "turntable"),
        "Ansible copies this to hosts, which have nothing else of this repository",
    ),
    "analysis": ((), ""),
}
# Module -> what it alone may import: the name of the package, below which it looks for systems.
EXCEPTED = {("turntable_core.systems", "turntable_systems")}
# Below src/: what measures the parts of systems includes them as systems do.
BENCHMARKS = "bench"
INCLUDE = re.compile(r"""^\s*#\s*include\s*["<](?:\.\./)*([^">/]+)/""")
CPP = {".h", ".hpp", ".cc", ".cpp"}


@dataclass(frozen=True)
class Import:
    path: Path
    line: int
    module: str  # that imports
    imported: str  # a module, or a package with what it exports
    for_types: bool


def main() -> int:
    modules = {name: path for root in RULES for name, path in modules_of(Path(root))}
    imports = [found for name, path in modules.items() for found in imports_of(name, path, modules)]
    problems = [*wrong_directions(imports), *circles(imports), *wrong_includes()]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def modules_of(root: Path) -> Iterator[tuple[str, Path]]:
    """Name and file of every module below `root`; notebooks and such are none."""
    for path in files_of(root):
        parts = path.relative_to(root).with_suffix("").parts
        if path.suffix == ".py" and path.is_file() and (root / parts[0] / "__init__.py").exists():
            yield ".".join(parts).removesuffix(".__init__"), path


def files_of(root: Path) -> list[Path]:
    """Under version control, or about to be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", str(root)]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [Path(line) for line in listed]


def imports_of(module: str, path: Path, modules: Mapping[str, Path]) -> Iterator[Import]:
    """modules: those of this repository; `from package import name` may mean one of them."""
    tree = ast.parse(path.read_bytes(), str(path))
    for_types = {node for test in ast.walk(tree) if _is_for_types(test) for node in ast.walk(test)}
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = resolve_name("." * node.level + (node.module or ""), package)
            within = [f"{start}.{alias.name}" for alias in node.names]
            names = [name if name in modules else start for name in within]
        else:
            continue
        for name in dict.fromkeys(names):
            yield Import(path, node.lineno, module, name, node in for_types)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def wrong_directions(imports: Iterable[Import]) -> Iterator[str]:
    for each in imports:
        root = next(root for root in RULES if each.path.is_relative_to(root))
        forbidden, why = RULES[root]
        wrong = each.imported.partition(".")[0] in forbidden
        if wrong and (each.module, each.imported) not in EXCEPTED:
            yield f"{each.path}:{each.line}: imports {each.imported}; {why}. Move what needs it"


def circles(imports: Iterable[Import]) -> Iterator[str]:
    """Each that is left when those before are cut open."""
    needs: dict[str, set[str]] = {}
    for each in imports:
        if not each.for_types and each.imported != each.module:
            needs.setdefault(each.module, set()).add(each.imported)
    while circle := _circle(needs):
        yield f"modules import each other: {' <- '.join(circle)}. Move what both need into a third"
        needs[circle[1]].remove(circle[0])


def _circle(needs: Mapping[str, set[str]]) -> list[str]:
    """Modules, each of which is imported by the next one; the first is the last again."""
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def wrong_includes() -> Iterator[str]:
    """A system's C++ lies in src/ under the name of its package in systems/."""
    packages = Path("systems/turntable_systems").glob("*/__init__.py")
    systems = {package.parent.name for package in packages}
    for path in files_of(Path("src")):
        component = path.parts[1]
        if path.suffix not in CPP or not path.is_file() or component == BENCHMARKS:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if found and found[1] in systems - {component}:
                yield (
                    f"{path}:{number}: includes a header of {found[1]}; src/{component} knows no "
                    "other system. Move what both need into a library of its own"
                )


if __name__ == "__main__":
    sys.exit(main())
