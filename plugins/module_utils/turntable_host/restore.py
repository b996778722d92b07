"""From what was written back to what was there before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from .converge import KEEP, REFUSE, Difference, Outcome
from .errors import GoneError, HostError, LeftError
from .kinds import setting_of
from .packages import Package
from .record import Entry, Record


@dataclass(frozen=True)
class _Options:
    changed_since: str
    check: bool
    purge: bool


def restore(
    record: Record, *, changed_since: str = REFUSE, check: bool = False, purge: bool = False
) -> Outcome:
    """The last change is undone first. What somebody has changed since is left and stays in the
    record, unless it is to be overwritten; with KEEP it is left and forgotten. One that fails keeps
    none of the others from being put back. purge: directories go with what is in them.
    """
    options = _Options(changed_since, check, purge)
    outcome = Outcome()
    for kind, group in groupby(list(reversed(record.entries)), key=lambda entry: entry.kind):
        entries = list(group)
        # Packages need each other, so they go together.
        together = [entries] if kind == Package.kind else [[entry] for entry in entries]
        for some in together:
            _restore(some, record, options, outcome)
    if not check:
        _settle(record)
    return outcome


def _restore(entries: Sequence[Entry], record: Record, options: _Options, outcome: Outcome) -> None:
    judged = [(entry, _judge(entry, record, options, outcome)) for entry in entries]
    to_write = [difference for _, difference in judged if isinstance(difference, Difference)]
    try:
        if to_write and not options.check:
            _write(to_write)
    except LeftError as error:
        outcome.notes.append(f"{to_write[0].setting} is left: {error}")
        return
    except HostError as error:
        outcome.left += [f"{difference.setting}: {error}" for difference in to_write]
        return
    outcome.changed += to_write
    if not options.check:
        for entry, done in judged:
            if done is not False:
                record.entries.remove(entry)


def _judge(entry: Entry, record: Record, options: _Options, outcome: Outcome) -> Difference | bool:
    """What is to be undone; True: nothing is, False: it is left and stays in the record."""
    setting = setting_of(entry.kind, entry.name, record.kept, options.purge)
    try:
        present = setting.read()
    except GoneError:
        return True
    except HostError as error:
        outcome.left.append(str(error))
        return False
    difference = Difference(setting, present, entry.previous)
    if setting.has(present, entry.previous):
        return True
    if entry.accounts_for(setting, present) or options.changed_since not in (KEEP, REFUSE):
        return difference
    shown = difference.sides()[0].strip()
    if options.changed_since == KEEP:
        outcome.notes.append(f"{shown} is kept as somebody set it")
        return True
    ours = setting.describe(entry.ours[0], entry.ours[0])
    outcome.left.append(
        f"{shown}; expected {ours}, as provision.yml set it: somebody has changed it since"
    )
    return False


def _write(differences: Sequence[Difference]) -> None:
    type(differences[0].setting).write_all([(it.setting, it.wanted) for it in differences])
    for it in differences:
        present = it.setting.read()
        if not it.setting.has(present, it.wanted):
            shown = it.setting.describe(present, it.wanted)
            raise HostError(f"it is {shown} after it was set to what it was before")


def _settle(record: Record) -> None:
    if record.entries:
        record.save()
    else:
        record.remove()
