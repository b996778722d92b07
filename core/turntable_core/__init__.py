"""The run side of Turntable: spec -> plan -> turn -> journal.

See docs/architecture.md and docs/experiments.md.
"""
