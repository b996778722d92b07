"""Extra variables of a playbook that measures nothing: those that it does not know are refused.

Variables of an experiment's run are checked by `overrides`, which knows the experiment.
"""

from __future__ import annotations

from collections.abc import Collection

from turntable_core.errors import InputError, did_you_mean
from turntable_core.overrides import NAMELESS, ExtraVars

TESTBED_PREFIX = "turntable_"
_OF_ANSIBLE = "ansible_"


def refuse_unknown(extra: ExtraVars, known: Collection[str], of_testbed: Collection[str]) -> None:
    """Raises InputError for the first extra variable that is neither `known` to the playbook nor
    one `of_testbed`, which every playbook takes.
    """
    for name, value in extra.values.items():
        if name == NAMELESS:
            raise InputError(extra.where(name), "-e", value, f"NAME=VALUE; {_list(known)}")
        if name.startswith(_OF_ANSIBLE) or name in known or name in of_testbed:
            continue
        hint = did_you_mean(name, [*known, *of_testbed])
        if name.startswith(TESTBED_PREFIX):
            raise InputError(extra.where(name), name, value, f"a key of inventories/schema{hint}")
        raise InputError(extra.where(name), name, value, f"another name{hint}; {_list(known)}")


def _list(known: Collection[str]) -> str:
    if known:
        return f"this playbook takes {', '.join(known)} and variables of the testbed"
    return "this playbook takes variables of the testbed only"
