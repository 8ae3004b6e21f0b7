"""Stores as other formats."""
