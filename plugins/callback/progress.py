"""Output for a reader: a line per iteration, the result table, and every failure in full.

With -v or more it shows what Ansible's default callback shows.
"""

from __future__ import annotations

from ansible import constants
from ansible.plugins.callback.default import CallbackModule as DefaultCallback

# Tasks run in forks of this process: what is imported here costs them nothing.
import turntable.progress  # noqa: F401
import turntable_core.components.kvclient
import turntable_core.components.kvserver
import turntable_core.components.softswitch
import turntable_core.run_action  # noqa: F401

DOCUMENTATION = """
name: progress
type: stdout
short_description: One line per iteration of a run, and failures in full
description:
  - Tasks that went well are not shown. A task result with C(progress) becomes a line, one with
    C(report) is printed as it is.
extends_documentation_fragment:
  - default_callback
  - result_format_callback
requirements:
  - set as stdout in configuration
"""


class CallbackModule(DefaultCallback):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "progress"

    def __init__(self):
        super().__init__()
        self._has_reported = False

    @property
    def _quiet(self) -> bool:
        return self._display.verbosity == 0

    def v2_playbook_on_play_start(self, play):
        if not self._quiet:
            super().v2_playbook_on_play_start(play)
        elif play.get_name():
            self._display.display(play.get_name(), color=constants.COLOR_HIGHLIGHT)

    def v2_playbook_on_task_start(self, task, is_conditional):
        # A failure prints the banner of its task itself.
        if not self._quiet:
            super().v2_playbook_on_task_start(task, is_conditional)

    def v2_runner_on_start(self, host, task):
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
        content = result.result
        if not self._quiet or content.get("_ansible_verbose_always"):
            super().v2_runner_on_ok(result)
        else:
            self._handle_warnings_and_exception(result)
        self._print_ours(content)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        content = result.result
        self._print_ours(content)
        content.pop("report", None)
        if self._quiet and content.get("self_explanatory"):
            text = f"{result.task.get_name()}: failed\n{content['msg']}"
            self._display.display(text, color=constants.COLOR_ERROR)
        else:
            super().v2_runner_on_failed(result, ignore_errors)

    def _print_ours(self, content):
        if "progress" in content:
            self._display.display(progress_line(content["progress"]))
        if "report" in content:
            self._has_reported = True
            self._display.display(content["report"])

    def v2_playbook_on_stats(self, stats):
        # A run ends with its table, other playbooks with Ansible's recap.
        if not self._quiet or stats.failures or stats.dark or not self._has_reported:
            super().v2_playbook_on_stats(stats)


def progress_line(progress: dict) -> str:
    """One attempt: how far the run is, what it measured or why it failed, how long is left."""
    total = str(progress["total"])
    partitions = "+".join(str(partition) for partition in progress["partitions"])
    head = (
        f"iteration {progress['done']:>{len(total)}}/{total}  {progress['workload']} "
        f"{progress['method']} {progress['servers']} round {progress['round']}  "
        f"partitions {partitions:<7}"
    )
    if progress["status"] != "ok":
        return f"{head}  failed ({progress['failure_class']}), attempt {progress['attempt']}"
    used = "" if progress["utilization"] is None else f"  utilization {progress['utilization']:.3f}"
    return f"{head}  {progress['ops_per_s']:>9,.0f} ops/s{used}  ETA {duration(progress['eta_s'])}"


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
