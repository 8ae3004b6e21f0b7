"""How good answers are, and the papers' experiments on any web."""
