"""`make tofino`: P4 programs through the open Tofino compiler, and what they take of the chip."""
