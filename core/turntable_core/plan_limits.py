"""Bounds of plans that several modules ask for."""

from __future__ import annotations

LEAST_ROUNDS = 3  # whose interval says something about a cell's precision
