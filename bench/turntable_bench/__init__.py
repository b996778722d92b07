"""Ratios of this project's parts to yardsticks that others trust, measured in one run.

`python -m turntable_bench` prints them; docs/bench.md says what each row means.
"""
