"""What the user touches: the only package that imports gpiozero."""
