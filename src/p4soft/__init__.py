"""p4soft: translates P4_16 programs for TNA to C++ classes that softswitch loads.

The stages, each a package with one job:

    frontend   files -> tokens -> syntax tree (preprocessor, lexer, recursive-descent parser)
    check      syntax tree -> the same tree with types, constants and resolved names
    elaborate  checked tree -> the instances of the one pipeline that `main` names
    emit       instances -> C++ text and the control-plane schema (bfrt.json)

Whatever a stage does not support is a `P4Error` with a source position; nothing is skipped. The
support table is in docs/p4soft.md.
"""
