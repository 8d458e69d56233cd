"""What a recogniser made of a sound in which nobody spoke counts as nothing heard: a cough, a fan, a knock, a hum.

Engines find words in anything. What tells: hardly any voice, more words than so much voice can hold, a phrase over and
over again, what engines are known to make of noise, and their own doubt.
"""

import re
from dataclasses import replace

from appliance.hearing.stt import NoSpeech, Transcript

_LEAST_VOICE = 0.08
"""Seconds of voice below which nobody spoke. Of 66 texts made of noises, 62 had less; a "no" at -50 dB has 0.1."""

_LITTLE_VOICE = 0.2
"""Seconds of voice that can be one of the words that engines make of a knock; spoken ones mostly have 0.26 or more."""

_MOST_WORDS_PER_SECOND = 14.0
"""Words in a second of voice; the fastest of 155 orders has 5.4. Noise of 0.1 s made six words."""

_WORDS_SPARE = 2
"""On top of it, since voice that is soft, or in noise, is only found in part."""

_UNSURE = 0.35
"""Moonshine's mean probability of a token below which words are made up. The least sure of 155 orders has 0.41."""

_SURE = 0.75
"""Confidence from which on a phrase said over and over was said so: loops out of babble had up to 0.67."""

_TIMES = {1: 4, 2: 3, 3: 3}
"""How often in a row a phrase of so many words has to stand to be a loop; longer ones twice."""

_LONGEST_PHRASE = 12
"""Words of the longest phrase that is looked for."""

_ALWAYS = frozenset({"you", "thank you for watching", "thanks for watching"})
"""What Moonshine makes of sounds without speech, and nobody says to a speaker."""

_SELDOM = frozenset({"ah", "huh", "oh", "oh my god", "so", "uh", "um", "yeah"})
"""The same, but somebody may say it."""


def speech(transcript: Transcript, voiced: float) -> Transcript:
    """What was really said, in an utterance with `voiced` seconds of voice: the transcript, or why it is empty."""
    reason = _no_speech(transcript, voiced)
    return transcript if reason is None else replace(transcript, text="", no_speech=reason)


def is_made_up(text: str, confidence: float) -> bool:
    """Whether Moonshine made `text`, of one window, out of sound without speech. Takes the sound for unknown."""
    words = _words(text)
    return not words or " ".join(words) in _ALWAYS or confidence < _UNSURE


def _no_speech(transcript: Transcript, voiced: float) -> NoSpeech | None:
    words = _words(transcript.text)
    phrase = " ".join(words)
    if not words:
        return NoSpeech.SILENCE
    if voiced < _LEAST_VOICE:
        return NoSpeech.NO_VOICE
    if phrase in _ALWAYS or (phrase in _SELDOM and voiced < _LITTLE_VOICE):
        return NoSpeech.PHANTOM
    if len(words) > _WORDS_SPARE + _MOST_WORDS_PER_SECOND * voiced:
        return NoSpeech.TOO_DENSE
    if (transcript.confidence is None or transcript.confidence < _SURE) and _is_loop(words):
        return NoSpeech.LOOP
    return None


def _is_loop(words: list[str]) -> bool:
    """Whether the words are little more than one phrase, again and again."""
    for size in range(1, min(_LONGEST_PHRASE, len(words) // 2) + 1):
        times = _TIMES.get(size, 2)
        for begin in range(size):
            phrase, count = words[begin : begin + size], 0
            while words[begin + count * size : begin + (count + 1) * size] == phrase:
                count += 1
            if count >= times and 2 * count * size > len(words):
                return True
    return False


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['\N{RIGHT SINGLE QUOTATION MARK}][^\W_]+)*", text.lower())
