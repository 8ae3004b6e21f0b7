"""Questions in words: search, keywords, communities on a topic."""
