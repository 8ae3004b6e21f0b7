"""A store for assistants, by the Model Context Protocol: the server with its tools, the results, and the process."""
