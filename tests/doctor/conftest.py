"""A sound card for the doctor."""

from tests.sound_server import sound_server

__all__ = ["sound_server"]
