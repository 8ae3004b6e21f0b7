"""Loops of the methods."""
