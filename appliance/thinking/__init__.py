"""From what was heard to what will be said."""
