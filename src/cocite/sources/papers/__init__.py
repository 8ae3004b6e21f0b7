"""Scholarly works: what reference managers and catalogues export."""
