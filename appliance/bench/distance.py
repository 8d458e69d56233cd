"""How somebody sounds who speaks at some distance, in a room with walls: by image sources, mirrored in all six walls.

Source: Allen and Berkley, Image method for efficiently simulating small-room acoustics (1979).
"""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.audio.devices import HEARING_RATE, Samples

ROOM = np.array([5.2, 4.1, 2.6])
"""A living room, in metres."""

MICROPHONE = np.array([1.1, 1.7, 0.9])
"""On a shelf."""

DIRECTION = np.array([0.94, 0.22, 0.26])
"""From the microphone to the mouth of who speaks, of length 1."""

REVERBERATION = 0.4
"""Seconds in which sound fades by 60 dB: a furnished room has 0.3 to 0.6."""

SPEED = 343.0
"""Metres that sound goes in a second."""


def from_afar(samples: Samples, metres: float) -> Samples:
    """`samples`, recorded at a distance of one metre, as a microphone hears them that is `metres` away."""
    response = room_response(metres)
    length = len(samples) + len(response) - 1
    size = 1 << (length - 1).bit_length()
    heard = np.fft.irfft(np.fft.rfft(samples, size) * np.fft.rfft(response, size), size)[:length]
    return np.clip(heard, -1.0, 1.0).astype(np.float32)


@cache
def room_response(metres: float) -> Samples:
    """What is left of a click that was as loud as 1 at one metre; it begins with the direct sound."""
    length = round(REVERBERATION * HEARING_RATE)
    reach = REVERBERATION * SPEED
    spans = [np.arange(-int(reach / (2 * side)) - 1, int(reach / (2 * side)) + 2) for side in ROOM]
    source = MICROPHONE + metres * DIRECTION
    response = np.zeros(length, np.float64)
    nothing = round(metres / SPEED * HEARING_RATE)
    for mirrored in np.ndindex(2, 2, 2):
        places, walls = zip(
            *(_images(*each) for each in zip(spans, ROOM, source, MICROPHONE, mirrored, strict=True)), strict=True
        )
        x, y, z = places
        distances = np.sqrt(x[:, None, None] ** 2 + y[None, :, None] ** 2 + z[None, None, :] ** 2)
        hits = walls[0][:, None, None] + walls[1][None, :, None] + walls[2][None, None, :]
        delays = np.rint(distances / SPEED * HEARING_RATE).astype(int) - nothing
        heard = (delays >= 0) & (delays < length)
        np.add.at(response, delays[heard], _reflected() ** hits[heard] / distances[heard])
    return response.astype(np.float32)


def _images(
    span: npt.NDArray[Any], side: float, source: float, microphone: float, mirrored: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Along one side of the room: how far the images are from the microphone, and how often each was reflected."""
    places = 2 * span * side + (source if mirrored == 0 else -source) - microphone
    return places, np.abs(2 * span - mirrored)


def _reflected() -> float:
    """Share of the pressure that a wall gives back, by Eyring's formula; turned round, so that no pressure piles up."""
    volume = float(np.prod(ROOM))
    surface = 2 * float(ROOM[0] * ROOM[1] + ROOM[1] * ROOM[2] + ROOM[2] * ROOM[0])
    return -float(np.exp(-0.161 * volume / (2 * surface * REVERBERATION)))
