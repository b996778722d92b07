"""From what is to what is wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from .errors import HostError, NoProgramError
from .files import CopiedFile
from .record import Record
from .setting import Setting, Value

REFUSE, OVERWRITE, KEEP = POLICIES = ("refuse", "overwrite", "keep")


@dataclass(frozen=True)
class Difference:
    setting: Setting
    present: Value
    wanted: Value

    def sides(self) -> tuple[str, str]:
        """Lines of a diff."""
        before = self.setting.describe(self.present, self.wanted)
        after = self.setting.describe(self.wanted, self.wanted)
        return f"{self.setting}: {before}\n", f"{self.setting}: {after}\n"


@dataclass
class Outcome:
    changed: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what the user should hear of
    left: list[str] = field(default_factory=list)  # what could not be put back

    def diff(self) -> dict[str, str]:
        sides = [difference.sides() for difference in self.changed]
        return {
            "before": "".join(before for before, _ in sides),
            "after": "".join(after for _, after in sides),
        }


def converge(
    wanted: Iterable[tuple[Setting, Value]],
    record: Record | None,
    *,
    changed_since: str = REFUSE,
    check: bool = False,
    by_others: bool = False,
) -> Outcome:
    """Writes what differs, after `record` has what was there before.

    record: None: nobody will put anything back. changed_since: what happens to settings that
    somebody has changed after us. by_others: only the record is written, somebody else copies.
    """
    outcome = Outcome()
    differences = list(_differences(wanted, outcome.notes if check else None))
    changed = [it for it in differences if record and _was_changed(it, record)]
    if changed and changed_since == REFUSE:
        raise HostError(_refusal(changed, record))
    if changed and changed_since == KEEP:
        differences = [it for it in differences if it not in changed]
        outcome.notes += [f"{it.sides()[0].strip()} is kept as somebody set it" for it in changed]
    outcome.changed = differences
    if differences and not check:
        if record:
            _note(differences, record)
        if not by_others:
            _write(differences, record)
    return outcome


def _differences(
    wanted: Iterable[tuple[Setting, Value]], notes: list[str] | None
) -> Iterable[Difference]:
    """notes: in check mode, of what cannot be read before packages are installed."""
    for setting, value in wanted:
        try:
            present = setting.read()
        except NoProgramError as error:
            if notes is None:
                raise
            notes.append(f"{setting} is not known yet: {error}")
            continue
        if not setting.has(present, value):
            yield Difference(setting, present, value)


def _was_changed(difference: Difference, record: Record) -> bool:
    """Whether somebody has, since we did."""
    return record.find(difference.setting) is not None and not _is_known(difference, record)


def _refusal(changed: Sequence[Difference], record: Record | None) -> str:
    assert record is not None
    lines = []
    for it in changed:
        entry = record.find(it.setting)
        assert entry is not None
        present, ours = (
            it.setting.describe(value, it.wanted) for value in (it.present, entry.ours[0])
        )
        wanted = it.setting.describe(it.wanted, it.wanted)
        lines.append(
            f"  {it.setting} is {present}; expected {ours}, as provision.yml set it"
            + ("" if wanted == ours else f", before it becomes {wanted}")
        )
    return "\n".join(
        (
            "settings were changed by somebody since they were provisioned; this task changed "
            "nothing",
            *lines,
            "Ask who needs them so. -e changed_settings=overwrite sets them again, "
            "-e changed_settings=keep leaves them",
        )
    )


def _note(differences: Sequence[Difference], record: Record) -> None:
    for it in differences:
        if isinstance(it.setting, CopiedFile) and record.find(it.setting) is None:
            it.setting.keep(record.kept)
        record.note(it.setting, it.present, it.wanted)
    record.save()


def _write(differences: Sequence[Difference], record: Record | None) -> None:
    try:
        for kind, group in groupby(differences, key=lambda it: type(it.setting)):
            kind.write_all([(it.setting, it.wanted) for it in list(group)])
    finally:  # also when one of them was refused: that may have changed it to something else
        others = _note_others(differences, record)
    if others:
        lines = (
            f"{it.setting} is {it.setting.describe(it.present, it.wanted)} after it was set; "
            f"expected {it.setting.describe(it.wanted, it.wanted)}"
            for it in others
        )
        raise HostError(
            ". ".join(lines) + ". The kernel took the value and did not do as told: is there room "
            "(huge pages), does the driver have it, does a service set it again?"
        )


def _note_others(differences: Sequence[Difference], record: Record | None) -> list[Difference]:
    """What is neither as before nor as wanted is our doing, so that it can be undone."""
    now = [Difference(it.setting, it.setting.read(), it.wanted) for it in differences]
    others = [it for it in now if not it.setting.has(it.present, it.wanted)]
    unknown = [it for it in others if record and not _is_known(it, record)]
    if record and unknown:
        for it in unknown:
            record.note(it.setting, it.present, it.wanted)
        record.save()
    return others


def _is_known(difference: Difference, record: Record) -> bool:
    entry = record.find(difference.setting)
    return entry is not None and entry.accounts_for(difference.setting, difference.present)
