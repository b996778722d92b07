"""Types, constants and names: annotates the syntax tree, or says what is wrong with the program."""
