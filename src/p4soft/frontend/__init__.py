"""From source files to a syntax tree."""
