"""What the run asks of each kind of node, one module per component, one function per verb.

A verb is a function (Context) -> Batches. `node_phase` of a playbook names components and a verb.
Here are the components that any system may use; its own are in its package (System.components).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from types import ModuleType

from turntable_core.context import Context
from turntable_core.errors import TurntableError
from turntable_core.requests import Batches, merged


def batches(components: Iterable[str], verb: str, context: Context) -> Batches:
    """All requests of one phase."""
    return merged(_function(component, verb, context)(context) for component in components)


def _function(component: str, verb: str, context: Context) -> Callable[[Context], Batches]:
    try:
        return getattr(_module(component, context), verb)
    except AttributeError:
        raise TurntableError(f"component {component!r} has no verb {verb!r}") from None


def _module(component: str, context: Context) -> ModuleType:
    packages = (context.system.components, __name__)
    for package in packages:
        name = f"{package}.{component}"
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name not in (name, package):  # something that the component itself imports
                raise
    raise TurntableError(
        f"component {component!r}: expected a module of this name in {' or '.join(packages)}"
    )
