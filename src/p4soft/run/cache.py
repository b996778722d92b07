"""Compiled programs, kept by the content of all that they are made from.

That is the C++ that the translator made (which stands for the source, what it includes, defines and
the translator), the compiler and its flags, the runtime's headers and its library. Translating is
done anyway: it takes a fraction of a second, and a program that is refused is refused every time.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from p4soft.emit.program import Translation
from p4soft.run.compiler import Compiler
from p4soft.run.directories import make, temporary
from p4soft.run.installation import Installation

_KEPT = 32  # programs; those used last


@dataclass(frozen=True)
class CompiledProgram:
    library: Path  # NAME.so; where it traces, NAME.trace.so is beside it instead
    seconds: float | None  # that compiling took; None: it was in the cache

    @property
    def schema(self) -> Path:
        return self.library.with_suffix(".bfrt.json")

    @property
    def p4info(self) -> Path:
        return self.library.with_suffix(".p4info.txtpb")


def default_directory() -> Path:
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "p4soft"


def compiled(
    name: str,
    made: Translation,
    compiler: Compiler,
    installation: Installation,
    directory: Path,
    *,
    traced: bool,
    begins: Callable[[], None] = lambda: None,
) -> CompiledProgram:
    """The program from the cache `directory`, compiled first if it is not there; `begins` is called
    before that.

    Raises RunError, or OSError if the cache cannot be written.
    """
    place = directory / _key(name, made, compiler, installation, traced=traced)
    library = place / f"{name}.so"
    if place.is_dir():
        os.utime(place)
        return CompiledProgram(library, None)
    make("--cache-dir", directory)
    begins()
    began = time.monotonic()
    with temporary(directory) as scratch:
        making = scratch / "program"
        making.mkdir()
        program = CompiledProgram(making / library.name, None)
        program.schema.write_text(made.schema, encoding="utf-8")
        program.p4info.write_text(made.p4info, encoding="utf-8")
        source = program.library.with_suffix(".cpp")
        source.write_text(made.code, encoding="utf-8")
        target = program.library.with_suffix(".trace.so" if traced else ".so")
        compiler.compile(source, target, installation, traced=traced)
        _move(making, place)
    _remove_oldest(directory)
    return CompiledProgram(library, time.monotonic() - began)


def _move(making: Path, place: Path) -> None:
    """As a whole: another process may have made the same meanwhile."""
    try:
        making.rename(place)
    except OSError:
        if not place.is_dir():
            raise


def _key(
    name: str, made: Translation, compiler: Compiler, installation: Installation, *, traced: bool
) -> str:
    digest = hashlib.sha256()

    def add(part: bytes) -> None:
        digest.update(len(part).to_bytes(8, "little") + part)

    flags = compiler.flags(traced=traced)
    for text in (name, made.code, made.schema, made.p4info, compiler.path, compiler.version):
        add(text.encode())
    for flag in flags:
        add(flag.encode())
    for file in _runtime_files(installation):
        add(file.read_bytes())
    return digest.hexdigest()[:32]


def _runtime_files(installation: Installation) -> Iterator[Path]:
    yield from sorted((installation.headers / "dataplane").glob("*.h"))
    yield installation.runtime()


def _remove_oldest(directory: Path) -> None:
    places = [path for path in directory.iterdir() if len(path.name) == 32 and path.is_dir()]
    places.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in places[_KEPT:]:
        shutil.rmtree(path, ignore_errors=True)
