"""Compiled loops: arrays in, arrays out. A kernel that can't read a list returns DAMAGED as its first result."""
