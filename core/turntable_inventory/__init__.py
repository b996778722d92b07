"""Checks an inventory before anything is changed.

`inventory` is what is checked, `roles` says which of its groups are roles. `shape` has the rules of
inventories/schema on each host alone, `rules` those that relate hosts to each other; both yield
`problem.Problem`.
"""
