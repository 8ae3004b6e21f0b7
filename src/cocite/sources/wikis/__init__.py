"""Readers of wikis."""
