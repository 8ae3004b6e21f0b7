"""What the servers of http/ and mcp/ share: connections of strangers, and a fair queue before threads."""
