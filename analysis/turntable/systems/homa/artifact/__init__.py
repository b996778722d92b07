"""The files of Homa's published artifact (docs/homa.md §10), written and read.

lines (of a text file, by number) -> baseline, experiment, slowdown_rows (one kind of file each) ->
directory (one with all of them) -> curves (slowdown by share of the messages) -> figure. export: of
a run of ours.
"""
