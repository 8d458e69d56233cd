"""The sound card: the only package that imports pyaudio."""
