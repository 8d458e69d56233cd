"""Decisions, and nothing else: no asyncio, no clock, no threads, no input or output (an import test holds this)."""
