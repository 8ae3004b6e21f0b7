"""Loops of the global ranks."""
