"""FarReach with its baselines NetCache and NoCache: in-switch caching under server rotation."""

from turntable_systems.farreach.system import FarReach

SYSTEM = FarReach()
