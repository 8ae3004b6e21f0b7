"""WARC, ARC and WAT files."""
