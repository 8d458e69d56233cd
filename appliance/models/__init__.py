"""The model files: which there are, where they come from, and whether what lies on the disk is what it should be."""
