"""`appliance wake test|tune`: how well the wake words are heard, where they are to be heard."""
