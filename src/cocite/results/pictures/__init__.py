"""Pictures of results: for the web page, notebooks, and graph programs."""
