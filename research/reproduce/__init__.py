"""The papers' claims, tested again: claims.toml has the claims, one file per paper measures them, `run` judges."""
