"""Settings of a host: read, written where they differ, recorded before, put back from the record.

`setting` says what a setting is; `network`, `ethtool`, `kernel`, `interrupts`, `files` and
`packages` have the kinds there are, `kinds` lists them. `record` keeps what was there before,
`converge` goes from what is to what is wanted, `restore` goes back. `clock` only looks.

Runs on hosts: standard library alone, Python 3.9.
"""
