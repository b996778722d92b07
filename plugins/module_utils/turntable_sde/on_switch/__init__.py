"""Programs for the switch's own Python, 3.6 or later. Each is sent whole, after `common`; see
..call.
"""
