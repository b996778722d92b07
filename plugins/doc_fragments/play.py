"""The arguments that say which attempts are of a play (PLAY_ARGUMENTS of run_action)."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  repeats:
    description: At most, of an iteration that the machine disturbed.
    type: int
    default: 0
  earlier_attempts:
    description: Lines of the journal when this play began.
    type: int
    default: 0
  only:
    description: What this play measures again, as plan_run returned.
    type: str
"""
