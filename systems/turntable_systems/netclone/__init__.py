"""NetClone with NoClone, C-Clone, LAEDGE and RackSched: requests cloned by the switch."""

from turntable_systems.netclone.system import NetClone

SYSTEM = NetClone()
