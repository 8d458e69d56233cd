"""From the microphone's frames to the words of the user."""
