"""The statistics files of FarReach's published artifact (docs/import.md).

names (what a file's path says), description (what the user says) -> sources (files of a cell and
round) -> statistics (what is in them, checked) -> imports (runs as others); read (the raw files of
such a run -> Measurement), arithmetic (throughput as the artifact's scripts compute it)
"""
