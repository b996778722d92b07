"""Output for a reader: a line per turn of a run, the result table, and every failure in full.

On a terminal the line of the running turn is rewritten in place after every iteration; when the
turn is over it stays, with the result. Elsewhere finished turns and failures are printed, and
after a minute without any how far the running turn is.

-v prints every iteration of a run, and elsewhere every task as Ansible's default callback does; -vv
does so in runs too.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from ansible import constants, context
from ansible.plugins.callback.default import CallbackModule as DefaultCallback

# Tasks run in forks of this process: what is imported here costs them nothing.
import turntable.standing  # noqa: F401
import turntable_core.run_action  # noqa: F401
from turntable_core import caller, systems, terminal_lines
from turntable_core.interrupts import Interrupts
from turntable_core.unfinished_run import UnfinishedRun

DOCUMENTATION = """
name: progress
type: stdout
short_description: One line per turn of a run, and failures in full
description:
  - Tasks that went well are not shown, with C(-v) they are outside of runs, with C(-vv) everywhere.
    A task result with C(progress) becomes a line, one with C(report) is printed as it is.
extends_documentation_fragment:
  - default_callback
  - result_format_callback
requirements:
  - set as stdout in configuration
"""

systems.import_components()

CLEAR_LINE = "\r\x1b[K"
WIDTH_ELSEWHERE = 120  # of a pipe or a file
SILENCE_ELSEWHERE_S = 60
PLANNING = "plan_run"  # the action that begins a run
SERIES, SERIES_END = "plan_series", "end_series"  # ... and those of several


class LiveLine:
    """The last line of a terminal, rewritten in place; whatever else is printed clears it first."""

    def __init__(self, display) -> None:
        self._print = display.display
        self._shown = False
        # Warnings come from everywhere, and all of them through this one method.
        display.display = self._display

    def show(self, text: str) -> None:
        self._print(f"{CLEAR_LINE}{text}", screen_only=True, newline=False)
        self._shown = True

    def clear(self) -> None:
        if self._shown:
            self._shown = False
            self._print(CLEAR_LINE, screen_only=True, newline=False)

    def _display(self, *args, **kwargs) -> None:
        self.clear()
        self._print(*args, **kwargs)


class RareLine:
    """The same where nothing can be rewritten: a line of its own, after a minute without any."""

    def __init__(self, display) -> None:
        self._print = display.display
        self._printed_at = time.monotonic()
        display.display = self._display

    def show(self, text: str) -> None:
        if time.monotonic() - self._printed_at >= SILENCE_ELSEWHERE_S:
            self._display(text)

    def _display(self, *args, **kwargs) -> None:
        self._printed_at = time.monotonic()
        self._print(*args, **kwargs)


class CallbackModule(DefaultCallback):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "progress"

    def __init__(self):
        super().__init__()
        self._unfinished = UnfinishedRun()
        self._interrupts = Interrupts(before_end=self._unfinished.end)
        caller.give_checkout_at_exit()
        self._has_reported = False
        self._in_run = False
        self._turn = None  # that runs: (cell, round)
        self._live = (LiveLine if sys.stdout.isatty() else RareLine)(self._display)

    @property
    def _quiet(self) -> bool:
        return self._display.verbosity <= (1 if self._in_run else 0)

    @property
    def _width(self) -> int:
        return shutil.get_terminal_size((WIDTH_ELSEWHERE, 0)).columns

    def v2_playbook_on_play_start(self, play):
        if not self._quiet:
            super().v2_playbook_on_play_start(play)
        elif play.get_name():
            self._display.display(play.get_name(), color=constants.COLOR_HIGHLIGHT)

    def v2_playbook_on_task_start(self, task, is_conditional):
        self._interrupts.raise_again()
        if task.action in (PLANNING, SERIES):
            self._in_run = True
            self._unfinished.planning()
        # A failure prints the banner of its task itself.
        if not self._quiet:
            super().v2_playbook_on_task_start(task, is_conditional)
        else:
            self._show_new_turn(task.get_vars().get("turntable_turn"))

    def v2_runner_on_start(self, host, task):
        self._interrupts.raise_again()
        if not self._quiet:
            super().v2_runner_on_start(host, task)

    def v2_playbook_on_include(self, included_file):
        if not self._quiet:
            super().v2_playbook_on_include(included_file)

    def v2_runner_on_skipped(self, result):
        if not self._quiet:
            super().v2_runner_on_skipped(result)

    def v2_runner_item_on_ok(self, result):
        if not self._quiet:
            super().v2_runner_item_on_ok(result)

    def v2_runner_item_on_skipped(self, result):
        if not self._quiet:
            super().v2_runner_item_on_skipped(result)

    def v2_runner_on_ok(self, result):
        self._interrupts.raise_again()
        content = result.result
        if result.task.action == PLANNING:
            self._unfinished.planned(_run_of(content))
        self._follow_series(result.task.action, content)
        if not self._quiet or content.get("_ansible_verbose_always"):
            super().v2_runner_on_ok(result)
        else:
            self._handle_warnings_and_exception(result)
        self._print_ours(content)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        content = result.result
        if result.task.action in (PLANNING, SERIES):
            self._unfinished.planned(None)
        self._follow_series(result.task.action, content)
        self._print_ours(content)
        content.pop("report", None)
        if self._quiet and content.get("told_before"):
            return
        if self._quiet and content.get("self_explanatory"):
            text = f"{result.task.get_name()}: failed\n{content['msg']}"
            self._display.display(text, color=constants.COLOR_ERROR)
        else:
            super().v2_runner_on_failed(result, ignore_errors)

    def _follow_series(self, action, content):
        if action in (SERIES, SERIES_END):
            self._unfinished.series(content.get("series", {}).get("command"))

    def _show_new_turn(self, turn):
        if isinstance(turn, dict) and (turn["cell"], turn["round"]) != self._turn:
            self._turn = (turn["cell"], turn["round"])
            self._live.show(terminal_lines.preparing(turn["label"], self._width))

    def _print_ours(self, content):
        if "progress" in content:
            self._print_progress(content["progress"])
        if "report" in content:
            self._has_reported = True
            self._display.display(content["report"])

    def _print_progress(self, progress):
        failed = progress["status"] != "ok"
        if failed or self._display.verbosity:
            line = terminal_lines.attempt(progress, self._width)
            self._display.display(line, color=constants.COLOR_ERROR if failed else None)
        if progress["result"]:
            for line in terminal_lines.finished(progress, self._width):
                self._display.display(line)
        else:
            self._live.show(terminal_lines.live(progress, self._width))

    def v2_playbook_on_stats(self, stats):
        if not stats.processed and context.CLIARGS["subset"]:
            self._refuse_limit(context.CLIARGS["subset"])
        # A run ends with its table, other playbooks with Ansible's recap.
        if not self._quiet or stats.failures or stats.dark or not self._has_reported:
            super().v2_playbook_on_stats(stats)

    def _refuse_limit(self, limit):
        """Ansible itself ends with status 0 where a limit has left nothing to do."""
        text = (
            f"--limit {limit}: no host of this playbook is in it, nothing was done; expected a "
            "limit with localhost, which plans and measures on all hosts of the inventory, or none"
        )
        self._display.error(text)
        raise SystemExit(2)


def _run_of(planned):
    """Its directory; none in check mode."""
    return Path(planned["run"]["directory"]) if "run" in planned else None
