"""Experiments in, experiments out. A run is stored as a whole or not at all."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from turntable.load import load_run
from turntable.results import Run
from turntable.systems.swan.store import metadata, rows
from turntable.systems.swan.store.tables import connect
from turntable_core.errors import TurntableError
from turntable_core.run_directory import RunDirectory
from turntable_systems.swan.identity import experiment_uuid

if TYPE_CHECKING:
    import pandas as pd

FILE_NAME = "swan.sqlite"
SYSTEM = "swan"
_FORM = b"4"  # of what is stored of a run; what was stored in another one is stored again
_SHORTEST = 4  # digits of a UUID that name it


@dataclass(frozen=True)
class Kept:
    """A row of `experiments`."""

    id: str
    experiment: str
    run: str
    profile: str | None
    directory: str | None
    began: str | None
    digest: str | None  # None: it was begun, and nothing of it is stored yet


class Store:
    def __init__(self, results: Path) -> None:
        self.results = results
        self._connection = connect(results / FILE_NAME)

    def close(self) -> None:
        self._connection.close()

    # --- In

    def note_begin(self, experiment: str, run: str, environ: Mapping[str, str]) -> str:
        """Of a run that is about to begin. environ: of the command's environment."""
        uuid = experiment_uuid(experiment, run)
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO experiments (id, experiment, run) VALUES (?, ?, ?)",
                (uuid, experiment, run),
            )
            found = ((uuid, metadata.ENVIRON, key, value) for key, value in environ.items())
            connection.executemany("INSERT OR REPLACE INTO metadata VALUES (?, ?, ?, ?)", found)
        return uuid

    def put(self, directory: Path, again: bool = False) -> str:
        """Stores a run, whole, in place of what was stored of it; nothing is done where neither
        plan nor journal has changed, unless `again`. Returns its UUID.

        Raises TurntableError for what is no run of this system, or cannot be read: another version
        wrote it. Raises sqlite3.Error where the store itself fails: that is no run's fault.
        """
        try:
            return self._put_changed(directory, again)
        except (TurntableError, sqlite3.Error) as error:
            if not isinstance(error, sqlite3.IntegrityError):  # two rows of a run for one place
                raise
            raise _unreadable(directory, error) from error
        except Exception as error:
            raise _unreadable(directory, error) from error

    def _put_changed(self, directory: Path, again: bool) -> str:
        uuid = experiment_uuid(_experiment_of(directory), directory.resolve().name)
        # Before it is read: what a run that goes on records meanwhile is stored the next time.
        digest = digest_of(directory)
        if again or self._digest(uuid) != digest:
            self._put(load_run(directory), uuid, digest)
        return uuid

    def put_all(self) -> list[str]:
        """Every run below results/ that has changed; returns which could not be read, and why: they
        do not keep the others from it.
        """
        files = sorted(self.results.glob("swan_*/*/plan.json"))
        faults = [self.try_put(file.parent) for file in files]
        return [fault for fault in faults if fault]

    def try_put(self, directory: Path, again: bool = False) -> str | None:
        """As `put`; why the run could not be read."""
        try:
            self.put(directory, again)
        except TurntableError as error:
            return str(error)
        return None

    def _put(self, run: Run, uuid: str, digest: str) -> None:
        described = metadata.of_run(run)
        every = list(rows.phases(run, uuid))
        with self._transaction() as connection:
            self._replace(connection, run, uuid, digest)
            connection.executemany(
                "INSERT INTO metadata VALUES (?, ?, ?, ?)", ((uuid, *row) for row in described)
            )
            connection.executemany(
                "INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _samples(uuid, every)
            )
            connection.executemany(
                "INSERT INTO histograms VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _histograms(uuid, every)
            )

    def _replace(self, connection: sqlite3.Connection, run: Run, uuid: str, digest: str) -> None:
        """The row of the experiment; what was noted of the environment stays."""
        for table in ("samples", "histograms"):
            connection.execute(f"DELETE FROM {table} WHERE experiment_id = ?", (uuid,))
        connection.execute(
            "DELETE FROM metadata WHERE experiment_id = ? AND kind <> ?", (uuid, metadata.ENVIRON)
        )
        row = (
            *(uuid, run.plan.experiment, run.name, run.plan.profile),
            *(str(run.directory.resolve()), run.manifest.get("created_at")),
            digest,
        )
        connection.execute(
            "INSERT INTO experiments VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
            "profile = excluded.profile, directory = excluded.directory, began = excluded.began, "
            "digest = excluded.digest",
            row,
        )

    # --- Out

    def experiments(self) -> list[Kept]:
        """The one that was planned last comes last."""
        found = self._connection.execute("SELECT * FROM experiments ORDER BY began IS NULL, began")
        return [Kept(*row) for row in found]

    def find(self, text: str) -> Kept:
        """By its UUID, or by the beginning of one. Raises TurntableError."""
        every = self.experiments()
        found = [kept for kept in every if kept.id == text]
        found = found or [
            kept for kept in every if len(text) >= _SHORTEST and kept.id.startswith(text.lower())
        ]
        if len(found) == 1:
            return found[0]
        what = "no experiment" if not found else f"{len(found)} experiments"
        raise TurntableError(
            f"{self.results / FILE_NAME}: {what} with the UUID {text!r}; expected one of the "
            f"{len(every)} that `swan list` shows, or the first digits of one (at least "
            f"{_SHORTEST})"
        )

    def metadata(self, uuid: str, kind: str = metadata.GENERAL) -> dict[str, str]:
        found = self._connection.execute(
            "SELECT key, value FROM metadata WHERE experiment_id = ? AND kind = ? ORDER BY key",
            (uuid, kind),
        )
        return dict(found.fetchall())

    def samples(self, uuid: str) -> pd.DataFrame:
        """Columns as in the table."""
        import pandas as pd  # noqa: PLC0415

        query = "SELECT * FROM samples WHERE experiment_id = ? ORDER BY time, phase, ns"
        return pd.read_sql_query(query, self._connection, params=(uuid,))

    def histograms(self, uuid: str, phase: str, ns: str) -> list[str]:
        """HdrHistogram V2 texts of an iteration, one of each client."""
        found = self._connection.execute(
            "SELECT data FROM histograms WHERE experiment_id = ? AND phase = ? AND ns = ? "
            "ORDER BY client",
            (uuid, phase, ns),
        )
        return [data.decode() for (data,) in found]

    def _digest(self, uuid: str) -> str | None:
        row = self._connection.execute(
            "SELECT digest FROM experiments WHERE id = ?", (uuid,)
        ).fetchone()
        return row[0] if row else None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it, or nothing."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
        except BaseException:
            if self._connection.in_transaction:  # a full disk ends it by itself
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")


def _unreadable(directory: Path, error: Exception) -> TurntableError:
    return TurntableError(
        f"{directory}: cannot be read as a run: {type(error).__name__}: {error}; expected what "
        "this version records"
    )


def _experiment_of(directory: Path) -> str:
    """As its plan names it. Raises TurntableError for what is no run of this system."""
    file = RunDirectory(directory).plan_file
    try:
        document = json.loads(file.read_bytes())
        system, experiment = document["system"], document["experiment"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TurntableError(
            f"{file}: cannot be read as the plan of a run ({type(error).__name__}: {error}); "
            "expected results/<experiment>/<run> with its files"
        ) from None
    if system != SYSTEM:
        raise TurntableError(f"{directory}: a run of system {system}; expected one of {SYSTEM}")
    return experiment


def digest_of(directory: Path) -> str:
    """Of what a run planned and recorded: raw files do not change, and the journal names them."""
    run = RunDirectory(directory)
    digest = hashlib.sha256(_FORM)
    for file in (run.plan_file, run.journal_file, run.manifest_file):
        digest.update(file.read_bytes() if file.exists() else b"")
    return digest.hexdigest()


def _samples(uuid: str, every: list[rows.Phase]) -> Iterator[tuple]:
    for phase in every:
        for ns, value in rows.metrics(phase.measurement, phase.parameters):
            yield (uuid, *phase.key, ns, value, phase.time_ns, phase.tags)


def _histograms(uuid: str, every: list[rows.Phase]) -> Iterator[tuple]:
    for phase in every:
        for ns, client, data in rows.histograms(phase.measurement):
            yield (uuid, *phase.key, ns, client, data)
