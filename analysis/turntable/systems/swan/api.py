"""Swan's final notebook interface, on our store (docs/swan-store.md).

    experiment = Experiment("c5bc3570-…")
    experiment.df                                    # a row per iteration
    SensitivityProfile("c5bc3570-…", slo=5000).latency(normalized=True)
    SensitivityProfile("c5bc3570-…", slo=5000).qps()

What is returned are Stylers of pandas: a notebook shows them with their colours, `.data` has the
texts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from turntable.systems.swan import tables
from turntable.systems.swan.profile import Field, Profile
from turntable.systems.swan.rendering import Look, final_rule, older_rule
from turntable.systems.swan.store import Store, export
from turntable.systems.swan.store.profiles import profiles_of
from turntable_core.errors import TurntableError
from turntable_systems.swan.aggressors import BASELINE

if TYPE_CHECKING:
    import pandas as pd
    from pandas.io.formats.style import Styler

RESULTS = Path(__file__).resolve().parents[4] / "results"


class Experiment:
    """uuid: or its first digits. results: the directory that has swan.sqlite."""

    def __init__(self, uuid: str, results: Path | str = RESULTS) -> None:
        self._results = Path(results)
        with self._store() as store:
            faults = store.put_all()
            try:
                self.id = store.find(uuid).id
            except TurntableError as error:  # it may be one of those that cannot be read
                raise TurntableError("\n".join([str(error), *faults])) from None

    @cached_property
    def df(self) -> pd.DataFrame:
        with self._store() as store:
            return export.frame(store, self.id)

    def profiles(self, slo: float | None = None) -> list[Profile]:
        """One per cell. slo: in µs, in place of the experiment's."""
        changes = {} if slo is None else {"slo_us": slo}
        with self._store() as store:
            return profiles_of(store, self.id, **changes)

    @contextmanager
    def _store(self) -> Iterator[Store]:
        store = Store(self._results)
        try:
            yield store
        finally:
            store.close()


class SensitivityProfile:
    """cell: of the experiment, by a part of its label, where it has several."""

    def __init__(
        self, uuid: str, slo: float | None = None, results: Path | str = RESULTS, cell: str = ""
    ) -> None:
        self.experiment = Experiment(uuid, results)
        every = self.experiment.profiles(slo)
        found = [one for one in every if cell in one.label]
        if len(found) != 1:
            labels = "; ".join(one.label for one in every)
            raise TurntableError(
                f"experiment {self.experiment.id}: {len(found)} of its cells have {cell!r} in "
                f"their label; expected a part of one alone: {labels}"
            )
        (self.profile,) = found

    def latency(
        self,
        normalized: bool = True,
        aggressors: Collection[str] | None = None,
        qpses: Collection[int] | None = None,
        older: bool = False,
    ) -> Styler:
        """qpses: target rates, rounded; None takes all."""
        rule = older_rule if older else final_rule
        look = tables.latency_look(self.profile, rule, normalized)
        return styled(self.profile, look, aggressors, qpses)

    def qps(
        self,
        normalized: bool = True,
        aggressors: Collection[str] | None = None,
        qpses: Collection[int] | None = None,
    ) -> Styler:
        """Achieved load in percent of what was offered, or in requests/s."""
        look = partial(tables.achieved_look, normalized=normalized)
        return styled(self.profile, look, aggressors, qpses)

    def progress(self) -> pd.DataFrame:
        """What aggressors got done per second, in their units: in place of Swan's caffe_batches."""
        return _frame(self.profile, lambda field: field.progress_per_s)


class OptimalCoreAllocation:
    """Rows: memcached's threads; columns: loads."""

    def __init__(self, uuid: str, slo: float | None = None, results: Path | str = RESULTS) -> None:
        experiment = Experiment(uuid, results)
        self.profiles = experiment.profiles(slo)
        threads = [one.parameters["threads"] for one in self.profiles]
        if len(set(threads)) < len(threads):
            raise TurntableError(
                f"experiment {experiment.id}: cells with {threads} threads; expected one of each "
                "number, as in experiments/swan/core_allocation.yml"
            )

    def latency(self, normalized: bool = True) -> Styler:
        def look_of(profile: Profile) -> Callable[[Field], Look]:
            return tables.latency_look(profile, normalized=normalized)

        return self._styled(look_of)

    def qps(self, normalized: bool = True) -> Styler:
        look = partial(tables.achieved_look, normalized=normalized)
        return self._styled(lambda _: look)

    def _styled(self, look_of: Callable[[Profile], Callable[[Field], Look]]) -> Styler:
        every = sorted(self.profiles, key=lambda one: one.parameters["threads"])
        rows = {
            one.parameters["threads"]: list(map(look_of(one), one.row(BASELINE))) for one in every
        }
        return _styler(rows, [f"{share:.0%}" for share in every[0].loads])


def styled(
    profile: Profile,
    look: Callable[[Field], Look],
    aggressors: Collection[str] | None = None,
    qpses: Collection[int] | None = None,
) -> Styler:
    """Rows: aggressors; columns: target rates."""
    wanted = [
        index for index, rate in enumerate(_rates(profile)) if qpses is None or rate in set(qpses)
    ]
    rows = {
        name: [look(profile.fields[name, index]) for index in wanted]
        for name in profile.aggressors
        if aggressors is None or name in aggressors
    }
    return _styler(rows, [_rates(profile)[index] for index in wanted])


def _styler(rows: dict[object, list[Look]], columns: list[object]) -> Styler:
    import pandas as pd  # noqa: PLC0415

    def of(part: Callable[[Look], str]) -> pd.DataFrame:
        texts = [[part(look) for look in row] for row in rows.values()]
        return pd.DataFrame(texts, index=list(rows), columns=columns)

    colours = of(lambda look: f"background-color: {look.background}; color: {look.colour}")
    return of(lambda look: look.text).style.apply(lambda _: colours, axis=None)


def _frame(profile: Profile, value: Callable[[Field], float | None]) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415

    rows = [[value(field) for field in profile.row(name)] for name in profile.aggressors]
    return pd.DataFrame(rows, index=list(profile.aggressors), columns=_rates(profile), dtype=float)


def _rates(profile: Profile) -> list[int]:
    return [round(profile.target_per_s(index) or 0) for index in profile.indices]
