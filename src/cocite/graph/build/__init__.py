"""The passes of a build."""
