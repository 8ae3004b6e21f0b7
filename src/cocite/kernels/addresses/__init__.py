"""Addresses, names and hashes as bytes."""
