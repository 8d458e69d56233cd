"""From the text of a reply to its samples."""
