"""swan list, show, compare, export, store: what reads the store."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from turntable import grid
from turntable.grid import Column, Table
from turntable.systems.swan import compare, tables
from turntable.systems.swan.command import again, begin, places
from turntable.systems.swan.planning import planning_tables
from turntable.systems.swan.store import Store, export, metadata
from turntable.systems.swan.store.profiles import profiles_of, unmeasured
from turntable.table import WIDTH
from turntable_core.errors import TurntableError

_LIST = (
    Column("", "uuid", "id", ""),
    Column("", "experiment", "experiment", ""),
    Column("", "run", "run", ""),
    Column("", "planned", "began", ""),
    Column("", "state", "state", ""),
)


@contextmanager
def _opened(options: argparse.Namespace) -> Iterator[Store]:
    """With whatever was measured since it was opened last."""
    store = Store(places.results_to_read(vars(options)))
    try:
        begin.warn(store.put_all())
        yield store
    finally:
        store.close()


def list_(options: argparse.Namespace) -> int:
    with _opened(options) as store:
        rows = [
            vars(kept) | {"state": _state(store.metadata(kept.id))} for kept in store.experiments()
        ]
    print("\n".join(grid.lines(_LIST, rows)) if rows else "no experiment yet")
    return 0


def _state(general: Mapping[str, str]) -> str:
    """general: an experiment's metadata, empty where nothing of it is stored."""
    if not general:
        return "begun; nothing stored"
    planned, measured = general[metadata.PLANNED], general[metadata.MEASURED]
    return "complete" if measured == planned else f"{measured} of {planned} iterations"


def show(options: argparse.Namespace) -> int:
    with _opened(options) as store:
        kept = store.find(options.uuid)
        state = _state(store.metadata(kept.id))
        profiles = profiles_of(store, kept.id, every=options.all)
        missing = unmeasured(store, kept.id)
    shown = [
        table
        for one in profiles
        for table in (
            *tables.latency_tables(one, options.older_rule, not options.absolute),
            *tables.achieved_tables(one),
        )
    ]
    print(f"{kept.id}  {kept.experiment}/{kept.run}  {state}\n")
    print("\n".join(_lines([*shown, *planning_tables(profiles)])))
    print(textwrap.fill(tables.LEGEND, WIDTH))
    if missing:
        print(f"Nothing was measured of: {'; '.join(missing)}")
    return 0


def compare_(options: argparse.Namespace) -> int:
    with _opened(options) as store:
        both = [store.find(text) for text in (options.first, options.second)]
        first, second = (profiles_of(store, kept.id, every=options.all) for kept in both)
        differ = list(again.differences(*(store.metadata(kept.id) for kept in both)))
    found = compare.pairs(first, second)
    if not found:
        raise TurntableError(
            f"experiments {both[0].id} and {both[1].id} have no field in common: expected the same "
            "aggressors at the same shares of the peak, in cells with the same factors"
        )
    print("\n".join(_lines([compare.comparison_table(found)])))
    if differ:
        print("Their configurations differ:", *differ, sep="\n  ")
    if options.figure:
        print(f"Figure: {_draw(found, options.figure, [kept.run for kept in both])}")
    return 0


def _draw(found: Sequence[compare.Pair], file: Path, runs: Sequence[str]) -> Path:
    from turntable.systems.swan.plot import ratios  # noqa: PLC0415

    stamp = f"runs {runs[0]} and {runs[1]}  ·  ratio of geometric means, 95 % interval (Welch)"
    drawing = ratios(found, stamp)
    if drawing is None:
        raise TurntableError(f"{file}: not drawn: no field has a latency in both experiments")
    try:
        drawing.save(file)
    except (OSError, ValueError) as error:
        raise TurntableError(
            f"{file}: cannot be written: {error}; expected a file such as ratios.svg or .png"
        ) from None
    return file


def export_(options: argparse.Namespace) -> int:
    with _opened(options) as store:
        found = export.frame(store, store.find(options.uuid).id)
    write = export.write_csv if options.csv else export.write_parquet
    file = options.csv or options.parquet
    try:
        write(found, file)
    except OSError as error:
        raise TurntableError(
            f"{file}: cannot be written: {error.strerror or error}; expected a file in a directory "
            "that exists and has room"
        ) from None
    print(f"{file}: {len(found)} rows")
    return 0


def store(options: argparse.Namespace) -> int:
    """Runs that are named, whether they have changed or not; without one all that have changed."""
    opened = Store(places.results_to_read(vars(options)))
    try:
        if options.runs:
            each = [opened.try_put(directory, again=True) for directory in options.runs]
            faults = [fault for fault in each if fault]
        else:
            faults = opened.put_all()
        count = len(opened.experiments())
    finally:
        opened.close()
    begin.warn(faults)
    print(f"{opened.results / 'swan.sqlite'}: {count} experiments")
    return 1 if faults else 0


def _lines(every: Sequence[Table]) -> Iterator[str]:
    for table in every:
        yield from (table.title, "", *grid.lines(table.columns, table.rows), "")
