"""Whether the switch of a testbed can be driven, and can do what a run wants of it.

Asked before anything is started: no other switch takes the place of one that cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from turntable_core.errors import InputError, TurntableError
from turntable_core.plan import Cell
from turntable_core.switch import TRACES, driver_of
from turntable_core.system import System
from turntable_core.testbed import Testbed
from turntable_inventory.problem import Problem

_ANOTHER = "choose an inventory whose turntable_switch_target is soft"


def check_switch_target(testbed: Testbed, place: Callable[[str, str], str]) -> None:
    """place: (host, variable) -> `file:line` where the inventory gives it."""
    switch = testbed.switch
    if switch is None:
        return
    driver = driver_of(switch)
    if switch.trace is not None and (why := driver.cannot.get(TRACES)):
        key = "turntable_switch_trace"
        expected = (
            f"none where turntable_switch_target is {switch.target}: {why}. Leave it out, or "
            f"{_ANOTHER}"
        )
        problem = Problem(switch.name, key, expected, switch.trace, place(switch.name, key))
        raise TurntableError(f"inventory: {switch.name}: {problem.subject()}")


def check_switch_program(system: System, cells: Sequence[Cell], testbed: Testbed) -> None:
    """That a switch which keeps its program has that of every cell, as far as this is known before
    it is asked.
    """
    switch = testbed.switch
    if switch is None or not system.needs_switch or not driver_of(switch).keeps_program:
        return
    programs = sorted({system.switch_program(cell.parameters) for cell in cells})
    if len(programs) > 1:
        raise TurntableError(
            f"the cells of this run need the P4 programs {', '.join(programs)}, and {switch.name} "
            f"(turntable_switch_target {switch.target}) runs the one that playbooks/switch.yml "
            "started; expected cells of one program. Choose them, for instance with "
            "-e method=NAME, start it with playbooks/switch.yml -e program=NAME, and measure the "
            "others in runs of their own"
        )


def check_switch_traffic(system: System, cells: Sequence[Cell], testbed: Testbed) -> None:
    """That the switch can have the links of every cell."""
    if testbed.switch is None or not system.needs_switch:
        return
    driver = driver_of(testbed.switch)
    for cell in cells:
        if why := driver.traffic_fault(system.switch_traffic(cell.parameters, testbed)):
            raise TurntableError(
                f"{testbed.switch.name}: turntable_switch_target is {testbed.switch.target}, and "
                f"cells of {system.name} ask for links of its ports: {why}; {_ANOTHER}"
            )


def check_switch_settings(system: System, cells: Sequence[Cell], testbed: Testbed) -> None:
    """That the switch can have the settings of every cell, however it takes them."""
    if testbed.switch is None:
        return
    driver, where = driver_of(testbed.switch), "the switch's settings"
    of_cells = [system.switch_settings(cell.parameters) for cell in cells]
    for name, value in (pair for settings in of_cells for pair in settings.items()):
        if expected := driver.setting_fault(name, value):
            raise InputError(where, name, value, f"{expected}. Or {_ANOTHER}")
    for name in driver.settings_of_start:
        first, *others = [settings.get(name, False) for settings in of_cells] or [False]
        for value in others:
            if value != first:
                expected = (
                    f"{first!r} in every cell of a run: such a switch has it from its start to "
                    f"its end. Measure these cells in runs of their own, or {_ANOTHER}"
                )
                raise InputError(where, name, value, expected)
