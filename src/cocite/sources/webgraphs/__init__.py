"""WebGraph and Common Crawl's graphs."""
