"""The configuration: its schema and where it is kept."""
