"""The papers' claims, run again: claims.toml says what they are, a file a paper measures them, `run` judges."""
