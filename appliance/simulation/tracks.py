"""room.wav: what the microphone got on the left, what the speaker played on the right."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.errors import ApplianceError

_TOGETHER = 100
_FULL_SCALE = 32768.0


class Tracks:
    """Writes the file while the room goes on, so that an hour of it needs no memory."""

    def __init__(self, path: Path) -> None:
        """Raises ApplianceError if `path` cannot be written."""
        try:
            self._file = soundfile.SoundFile(path, "w", HEARING_RATE, 2, "PCM_16")
        except (OSError, soundfile.SoundFileError) as error:
            raise ApplianceError(str(path), f"cannot be written ({error})") from error
        self._blocks: list[npt.NDArray[np.float32]] = []

    def __enter__(self) -> "Tracks":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, heard: Samples, played: Samples) -> None:
        """The next block of both tracks, of one length."""
        self._blocks.append(np.column_stack((heard, played)))
        if len(self._blocks) == _TOGETHER:
            self._write()

    def close(self) -> None:
        """The file is complete when this returns. Closing twice is fine."""
        self._write()
        self._file.close()

    def _write(self) -> None:
        if self._blocks:
            scaled = np.rint(np.concatenate(self._blocks) * _FULL_SCALE)
            self._file.write(np.clip(scaled, -_FULL_SCALE, _FULL_SCALE - 1).astype(np.int16))
            self._blocks.clear()


@dataclass(frozen=True, slots=True)
class Outline:
    """What is left of the tracks when they are drawn small: the extremes in columns of `step` seconds.

    `lowest` and `highest` are of shape (track, column); the last column may stand for less time.
    """

    seconds: float
    step: float
    lowest: npt.NDArray[np.float32]
    highest: npt.NDArray[np.float32]


def outline(path: Path, columns: int) -> Outline:
    """The outline of the tracks in `path`, in at most `columns` columns."""
    with soundfile.SoundFile(path) as file:
        size = max(1, -(-file.frames // columns))
        blocks = [(block.min(axis=0), block.max(axis=0)) for block in file.blocks(size, dtype="float32")]
        seconds, step = file.frames / file.samplerate, size / file.samplerate
    lowest, highest = np.asarray(blocks, np.float32).reshape(-1, 2, 2).transpose(1, 2, 0)
    return Outline(seconds, step, lowest, highest)
