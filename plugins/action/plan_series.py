"""Plans several experiments that are run one after another, and says what all of them will take.

Documented in plugins/modules/plan_series.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from turntable import precision
from turntable_core import estimate, long_runs, plays, selection
from turntable_core.catalogue import resume_command
from turntable_core.errors import InputError
from turntable_core.estimate import Overhead
from turntable_core.overrides import DEFAULT_PROFILE, WHERE, ExtraVars, read_options
from turntable_core.plan import Plan
from turntable_core.plan_action import PlanAction
from turntable_core.planned import Known
from turntable_core.proposal import Proposal
from turntable_core.reachable import require_reachable
from turntable_core.run_directory import new_run_name
from turntable_core.series import Series, Step
from turntable_core.series_estimate import Part, render, total_s
from turntable_core.sharing import once
from turntable_core.testbed import Testbed, read_testbed
from turntable_core.wait_notice import PlanningNotice


@dataclass(frozen=True)
class _Asked:
    """What this play asks for."""

    series: Series
    steps: list[Step]
    extra: ExtraVars
    share_rounds: bool
    long: bool


class ActionModule(PlanAction):
    ARGUMENTS: ClassVar = PlanAction.ARGUMENTS | {
        "series": {"type": "str", "required": True},
        "title": {"type": "str", "required": True},
        "steps": {"type": "list", "elements": "raw", "required": True},
        "playbook": {"type": "str", "required": True},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        asked = _asked(arguments, self.extra_vars())
        testbed = read_testbed(task_vars["hostvars"], task_vars["groups"])
        proposals = {
            step.experiment: self.propose(
                step.experiment, arguments, asked.extra, testbed, task_vars
            )
            for step in asked.steps
            if not step.tasks
        }
        for proposal in proposals.values():
            where = proposal.experiment.source.where(("precision",))
            precision.check(proposal.scale, where)
        overhead = estimate.overhead_of_earlier_runs(Path(arguments["results"]))
        may_be_long = asked.long or self._task.check_mode
        if not may_be_long:
            long_runs.check_series_before_planning(
                [p for p in proposals.values() if p.is_new], overhead, asked.share_rounds
            )
        # What is continued is planned already; of it there may be nothing left to measure.
        is_new = any(proposal.is_new for proposal in proposals.values())
        if is_new and not self._task.check_mode:
            require_reachable(self.connections(task_vars), testbed)
        first = next(iter(proposals.values()))
        manifest = self.manifest(first, arguments, asked.extra, task_vars)
        known = Known(asked.series.planned_file, manifest)
        notice = PlanningNotice(_turns(list(proposals.values())))
        plans = {
            name: proposal.plan(
                known.planner(
                    proposal.experiment.system, proposal.planner(Path(arguments["build"]), notice)
                )
            )
            for name, proposal in proposals.items()
        }
        parts = _parts(asked, proposals, plans, testbed, overhead)
        report = render(asked.series.run, parts, Path(arguments["results"]))
        if self._task.check_mode:
            checked = "Checked only: nothing was changed, the testbed was not asked."
            return {"changed": False, "report": f"{report}\n\n{checked}", "steps": []}
        if not may_be_long:
            long_runs.refuse(0.0, total_s(parts))
        given = self.extra_vars().values
        kept = asked.series.read()["extra_vars"] if asked.series.exists else given
        steps = [_named(step, proposals.get(step.experiment)) for step in asked.steps]
        asked.series.begin(arguments["series"], arguments["title"], steps, kept)
        known.save()
        plays.begin(asked.series.directory)
        return {
            "changed": True,
            "series": {
                "directory": str(asked.series.directory),
                "run": asked.series.run,
                "planned": str(asked.series.planned_file),
                "share_rounds": asked.share_rounds,
                "command": resume_command(manifest, asked.series.run, arguments["playbook"]),
            },
            "steps": _steps(asked.steps),
            "report": report,
        }


def _asked(arguments: Mapping[str, Any], extra: ExtraVars) -> _Asked:
    options = read_options(extra)
    if options.only:
        expected = "the playbook of one experiment, which measures a part of its run again"
        raise InputError(WHERE, "only", options.only, expected)
    results = Path(arguments["results"])
    name = options.run or new_run_name(options.profile or DEFAULT_PROFILE)
    series = Series(results / arguments["series"].replace("/", "_") / name)
    if series.exists:
        extra = extra.on_top_of(series.read()["extra_vars"])
    extra = extra.with_defaults({"run": name, "share_rounds": True})
    options = read_options(extra)
    steps = [_step(each) for each in arguments["steps"]]
    return _Asked(series, steps, extra, bool(options.share_rounds), options.long)


def _step(given: str | Mapping[str, str]) -> Step:
    return Step(given, "") if isinstance(given, str) else Step(**given)


def _named(step: Step, proposal: Proposal | None) -> Step:
    """As the experiment is called."""
    if proposal is None:
        return step
    title = proposal.experiment.document["title"]
    return replace(step, title=title, directory=proposal.run.path.parent.name)


def _turns(proposals: list[Proposal]) -> int:
    """To be planned."""
    return len(
        {
            (proposal.experiment.system.name, cell.id, round_)
            for proposal in proposals
            if proposal.is_new
            for cell in proposal.cells
            for round_ in range(proposal.scale.rounds)
        }
    )


def _parts(
    asked: _Asked,
    proposals: Mapping[str, Proposal],
    plans: Mapping[str, Plan],
    testbed: Testbed,
    overhead: Overhead,
) -> list[Part]:
    """In order; what several have counts where it comes first."""
    works = {
        name: selection.work(
            plans[name],
            proposal.run.attempts(),
            None,
            precision.still_skipped(proposal.run),
            repeats=proposal.options.repeats,
        )
        for name, proposal in proposals.items()
    }
    own = once(plans, works) if asked.share_rounds else works
    return [
        Part(name, plans[name], own[name], len(works[name]) - len(own[name]), expected)
        for name in plans
        for expected in [estimate.estimate(plans[name], own[name], testbed, overhead)]
    ]


def _steps(steps: list[Step]) -> list[dict[str, Any]]:
    return [
        {
            "experiment": step.experiment,
            "tasks": step.tasks,
            "label": f"{number} of {len(steps)}: {step.experiment}",
        }
        for number, step in enumerate(steps, start=1)
    ]
