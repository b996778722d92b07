"""Shadowfax: a store of several servers, each a hybrid log (docs/shadowfax.md)."""

from turntable_systems.shadowfax.system import Shadowfax

SYSTEM = Shadowfax()
