"""Turntable's analysis: from the raw files of a run to its summary. Nothing here needs the testbed.

load -> iterations (what was measured) -> rotation (aggregate) and verdict (may it be believed) ->
summary, table
"""
