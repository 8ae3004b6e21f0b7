"""The web around a page: gathered under limits, cleaned of noise, its edges weighed."""
