"""`appliance doctor`: looks at everything that has to be right, and says what to do where it is not."""
