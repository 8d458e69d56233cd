"""Lifetimes of everything that runs in the background."""
