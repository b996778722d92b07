"""Swan's sensitivity profile: memcached beside best-effort jobs (docs/swan.md)."""

from turntable_systems.swan.system import Swan

SYSTEM = Swan()
