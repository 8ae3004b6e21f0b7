"""What pages say, and what is said of them: search by words, and how alike two texts are."""
