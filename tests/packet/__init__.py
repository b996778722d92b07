"""Packet tests of the P4 programs: written once, run against every target (targets.py)."""
