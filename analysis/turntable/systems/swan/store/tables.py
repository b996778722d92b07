"""The store's tables, and a connection to them."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from turntable_core import caller
from turntable_core.errors import TurntableError

# Of the tables and of what they hold; PRAGMA user_version. Format 1 has no `jobs`, no
# `inventory_digest`, and `inventory` (with commas) in place of `inventories`.
FORMAT = 2
_READ = (1, FORMAT)

# Swan's shape: metadata by kind, samples by namespace with tags. Times are nanoseconds since 1970.
_TABLES = """
CREATE TABLE IF NOT EXISTS experiments (
    id TEXT PRIMARY KEY,            -- UUID
    experiment TEXT NOT NULL,       -- as its file names it
    run TEXT NOT NULL,
    profile TEXT,
    directory TEXT,                 -- of the run
    began TEXT,                     -- when it was planned, ISO 8601
    digest TEXT                     -- of plan and journal when it was stored; NULL: only begun
);
CREATE TABLE IF NOT EXISTS metadata (
    experiment_id TEXT NOT NULL REFERENCES experiments (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,             -- '', flags, environ, platform
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (experiment_id, kind, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS samples (
    experiment_id TEXT NOT NULL REFERENCES experiments (id) ON DELETE CASCADE,
    aggressor TEXT NOT NULL,
    loadpoint_qps INTEGER NOT NULL,
    repetition INTEGER NOT NULL,
    phase TEXT NOT NULL,
    ns TEXT NOT NULL,               -- namespace of the metric
    value REAL NOT NULL,
    time INTEGER NOT NULL,
    tags TEXT NOT NULL,             -- JSON
    PRIMARY KEY (experiment_id, phase, ns)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS histograms (
    experiment_id TEXT NOT NULL REFERENCES experiments (id) ON DELETE CASCADE,
    aggressor TEXT NOT NULL,
    loadpoint_qps INTEGER NOT NULL,
    repetition INTEGER NOT NULL,
    phase TEXT NOT NULL,
    ns TEXT NOT NULL,
    client INTEGER NOT NULL,        -- load generators' hosts, from 0
    data BLOB NOT NULL,             -- HdrHistogram V2, base64 text
    PRIMARY KEY (experiment_id, phase, ns, client)
) WITHOUT ROWID;
"""
_BUSY_S = 30  # another command may be storing
_BUSY_PROBE_S = 0.005


def connect(file: Path) -> sqlite3.Connection:
    """Makes the file where there is none. Raises TurntableError for what is no store, and for one
    that others use for longer than half a minute.
    """
    caller.make_directory(file.parent)
    deadline = time.monotonic() + _BUSY_S
    try:
        _give_to_caller(file)
        while True:
            try:
                return _opened(file)
            except sqlite3.OperationalError as error:
                # Who makes a write-ahead log of a new file does not wait for another who does.
                if not _is_busy(error):
                    raise
                if time.monotonic() > deadline:
                    raise TurntableError(
                        f"{file}: another program has used it for {_BUSY_S} s ({error}); expected "
                        "it to be free. Try again when that has ended"
                    ) from None
            time.sleep(_BUSY_PROBE_S)  # waits: interval of a probe with a deadline
    except (sqlite3.Error, OSError) as error:
        raise TurntableError(
            f"{file}: cannot be used as the store of experiments: {error}. Expected an SQLite file "
            "that this program has made, in a directory that can be written; move it away, and it "
            "is made again of the runs in results/"
        ) from None


def _give_to_caller(file: Path) -> None:
    """After sudo: SQLite gives the two files beside it the owner of the first one, but leaves those
    that are there as they are.
    """
    if not caller.ids():
        return
    file.touch()
    for suffix in ("", "-wal", "-shm"):
        caller.give(file.with_name(file.name + suffix))


def _is_busy(error: sqlite3.OperationalError) -> bool:
    """Whatever the extended code says of the reason."""
    return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def _opened(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=_BUSY_S, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        _check(file, found)
        if found != FORMAT:  # one that has its tables is only read: another may be storing
            script = f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {FORMAT}; COMMIT;"
            connection.executescript(script)
    except BaseException:
        connection.close()
        raise
    return connection


def _check(file: Path, found: int) -> None:
    if found not in (0, *_READ):
        raise TurntableError(
            f"{file}: has format {found}; expected {' or '.join(map(str, _READ))}. It was made by "
            "another version: move it away, and it is made again of the runs in results/"
        )
