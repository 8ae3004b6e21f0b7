"""Results: pages with scores and reasons, filtered, explained and displayed."""
