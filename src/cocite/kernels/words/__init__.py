"""Loops over word vectors and keyword pairs."""
