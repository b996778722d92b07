"""`msgbench`: clients and servers of messages by hand (docs/homa.md §10).

cli (what is typed) -> server, client, unloaded, echo_basic, files: one subcommand each; node starts
and asks a program of the build, transport says what nodes are told, silence what to check where
nobody answers.
"""
