"""What a play asks for: experiment, profile and extra variables -> a run, new or continued.

Everything is checked here and nothing is written, so that what is refused leaves nothing behind.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from turntable_core import overrides, plan
from turntable_core.checks import check_hosts, check_pipes, check_plan
from turntable_core.components import timeline
from turntable_core.errors import InputError, TurntableError, did_you_mean
from turntable_core.overrides import DEFAULT_PROFILE, WHERE, ExtraVars, RunOptions
from turntable_core.plan_limits import planning_deadline_s
from turntable_core.reference import Reference
from turntable_core.run_directory import RunDirectory, new_run_name
from turntable_core.spec import Experiment, Scale, choose_profile, load_experiment
from turntable_core.switch_checks import (
    check_switch_program,
    check_switch_settings,
    check_switch_target,
    check_switch_traffic,
)
from turntable_core.system import Parameters, Planned
from turntable_core.testbed import Testbed
from turntable_core.wait_notice import PlanningNotice
from turntable_inventory.read import INVENTORIES


@dataclass(frozen=True)
class Proposal:
    experiment: Experiment
    options: RunOptions
    scale: Scale
    cells: list[plan.Cell]
    testbed: Testbed
    run: RunDirectory

    @property
    def is_new(self) -> bool:
        return not self.run.exists

    def notes(self) -> list[str]:
        """What was given for this run and changes nothing in it, and what the system says of its
        cells.
        """
        ignored = [
            f"{name}: given, but without a meaning for any cell of this run, and ignored"
            for name, origin in self.scale.origins.items()
            if origin.startswith(WHERE)
            and not self._switches_off(name)
            and not any(name in cell.parameters for cell in self.cells)
        ]
        cells = [cell.parameters for cell in self.cells]
        return [*ignored, *self.experiment.system.notes(cells)]

    def _switches_off(self, name: str) -> bool:
        """Zero and false have a meaning where a cell has not what they switch off."""
        values = self.scale.factors.get(name, [self.scale.constants.get(name)])
        return not any(values)

    def plan(self, planner: Callable) -> plan.Plan:
        """The run's own plan, or a new one; planner: as make_plan takes it."""
        if self.is_new:
            made = plan.make_plan(self.scale, self.cells, planner)
            timeline.check_nodes(made, self.testbed)
            return made
        return self.run.continue_with(self.cells, self.scale.rounds)

    def planner(
        self, build: Path, notice: PlanningNotice | None = None
    ) -> Callable[[Parameters, int], Planned]:
        """As make_plan takes it; says how far it is when that takes a while."""
        notice = notice or PlanningNotice(len(self.cells) * self.scale.rounds)
        system = self.experiment.system
        deadline_s = planning_deadline_s(system, self.cells)
        planner = system.planner(build, deadline_s, notice.show_if_due)

        def plan(parameters: Parameters, round_: int) -> Planned:
            planned = planner(parameters, round_)
            notice.planned_one()
            return planned

        return plan


def propose(
    file: Path,
    extra: ExtraVars,
    testbed: Testbed,
    results: Path,
    place: Callable[[str, str], str] = lambda host, variable: "",
) -> Proposal:
    """Raises TurntableError for whatever is wrong with it.

    file: the experiment; results: the directory that holds the experiments' results; place: (host,
    variable) -> `file:line` where the inventory gives it, for messages.
    """
    experiment = load_experiment(file)
    options = overrides.read_options(extra)
    runs = results / experiment.id
    if options.run and (existing := RunDirectory(runs / options.run)).exists:
        # It goes on as it was begun; what is given again must not differ.
        extra = extra.on_top_of(_extra_vars(existing))
        options = overrides.read_options(extra)
    elif options.only:
        raise _nothing_to_repeat(experiment, options, runs)
    options = replace(options, profile=options.profile or DEFAULT_PROFILE)
    scale = overrides.apply_overrides(choose_profile(experiment, options.profile), extra)
    cells = plan.cells_of(scale)
    check_hosts(experiment.system, testbed, INVENTORIES)
    check_switch_target(testbed, place)
    check_pipes(experiment.system, testbed, place)
    timeline.check(scale.timeline, cells, experiment.system, testbed)
    check_plan(experiment.system, cells, testbed, scale.origins)
    check_switch_program(experiment.system, cells, testbed)
    check_switch_settings(experiment.system, cells, testbed)
    check_switch_traffic(experiment.system, cells, testbed)
    if reference := experiment.document.get("reference"):
        Reference(experiment.directory / reference).check(experiment.parameter_schemas)
    run = RunDirectory(runs / (options.run or new_run_name(options.profile)))
    return Proposal(experiment, options, scale, cells, testbed, run)


def _extra_vars(run: RunDirectory) -> dict:
    try:
        return json.loads(run.manifest_file.read_bytes())["extra_vars"]
    except (OSError, ValueError, KeyError) as error:
        raise TurntableError(
            f"{run.manifest_file}: cannot be read ({type(error).__name__}: {error}); it says with "
            "which extra variables the run was begun. Start a new run."
        ) from None


def _nothing_to_repeat(experiment: Experiment, options: RunOptions, runs: Path) -> InputError:
    """`only` without a run of that name."""
    known = sorted(path.parent.name for path in runs.glob("*/plan.json"))
    if options.run:
        newest = f"; the newest are {', '.join(known[-3:])}" if known else ""
        hint = f"{did_you_mean(options.run, known)}{newest}"
        return InputError(WHERE, "run", options.run, f"a run in {runs}{hint}")
    newest = f", for instance -e run={known[-1]}" if known else ""
    factor, levels = next(iter(experiment.document["factors"].items()))
    expected = (
        f"-e run=ID beside it{newest}: `only` measures a part of a run again. A smaller new run "
        f"is one with fewer levels, such as -e {factor}={levels[0]}"
    )
    return InputError(WHERE, "only", options.only, expected)
