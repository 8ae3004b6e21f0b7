"""The papers' claims and our experiments, run from a checkout: quality here, speed and size in bench/."""
