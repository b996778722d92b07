"""A closed loop over TCP connections (docs/add-a-system.md)."""

from turntable_systems.pingpong.system import PingPong

SYSTEM = PingPong()
