"""How good methods are: evaluations with judgements, and rating studies."""
