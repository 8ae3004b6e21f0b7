"""Public webs that `cocite get` knows (`recipes.toml`), and how their files are downloaded."""
