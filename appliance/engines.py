"""The models, loaded as the settings say."""

import asyncio
import contextlib
import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from appliance.config.schema import Settings
from appliance.hearing.recognisers import load_recogniser
from appliance.hearing.stt import Recogniser
from appliance.hearing.vad import VoiceActivity
from appliance.hearing.wake import WakeWords
from appliance.speaking.piper import load_voice
from appliance.speaking.voice import Voice


@dataclass(frozen=True, slots=True)
class Engines:
    """The loaded models."""

    wake: WakeWords
    activity: VoiceActivity
    recogniser: Recogniser
    voice: Voice


async def load_engines(settings: Settings, models: Path, before: tuple[Settings, Engines] | None = None) -> Engines:
    """Load all models side by side: they wait for the disk and release the interpreter while they parse.

    What is large, and the same with the settings `before`, is not loaded again.
    """
    hears = _same(before, settings, lambda each: (each.engine, each.language))
    speaks = _same(before, settings, lambda each: each.voice_name)
    wake, activity, recogniser, voice = await asyncio.gather(
        asyncio.to_thread(WakeWords, models, settings.wake.scores, settings.wake.refractory),
        asyncio.to_thread(VoiceActivity, models),
        asyncio.to_thread(
            lambda: hears.recogniser if hears else load_recogniser(settings.engine, settings.language, models)
        ),
        asyncio.to_thread(lambda: speaks.voice if speaks else load_voice(models, settings.voice_name)),
    )
    _give_back_memory()
    return Engines(wake, activity, recogniser, voice)


def _same(
    before: tuple[Settings, Engines] | None, settings: Settings, of: Callable[[Settings], object]
) -> Engines | None:
    """The engines of `before`, if the part `of` its settings is the same."""
    return before[1] if before is not None and of(before[0]) == of(settings) else None


def _give_back_memory() -> None:
    """Loading leaves tens of megabytes of freed memory with the C library; only glibc can be asked to give it back."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
