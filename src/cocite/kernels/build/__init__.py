"""Loops of the build: sorting, parents, near-duplicates."""
