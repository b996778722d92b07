"""Homa with Basic: messages over the priorities of a switch."""

from turntable_systems.homa.system import Homa

SYSTEM = Homa()
