"""Answers: pages with scores and reasons, filtered, explained and shown."""
