"""The argument `at` of actions of a run (turntable_core.run_action.AT_ARGUMENT)."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  at:
    description: Where in the run.
    type: dict
    required: true
    suboptions:
      run:
        description: The run's directory.
        type: path
        required: true
      cell:
        description: Its id; without it the run as a whole.
        type: str
      round:
        description: From 0.
        type: int
      iteration:
        description: From 0.
        type: int
"""
