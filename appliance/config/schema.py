"""Everything that can be set. config/appliance.toml is its documentation for people; a test keeps the two alike."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import time
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from appliance.config import wording
from appliance.hearing.naming import is_file, name_of

_VOICES = {
    "de": "de_DE-thorsten-medium",
    "en": "en_US-joe-medium",
    "es": "es_ES-davefx-medium",
    "fr": "fr_FR-siwis-medium",
    "it": "it_IT-paola-medium",
    "ko": "ko_KR-kss-medium",
}


def _time_of_day(text: str) -> time:
    hour, minute = text.split(":")
    return time(int(hour), int(minute))


Threshold = Annotated[float, Meta(ge=0.05, le=0.99)]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two values that are each allowed, and not together; `path` leads to the one to blame."""

    path: tuple[str, ...]
    wrong: str
    allowed: str
    options: tuple[str, ...]
    """What may have been meant instead of the last key."""


class Microphone(Struct, frozen=True):
    """Where the appliance hears."""

    card: Annotated[
        str, Meta(description="The sound card's name, or a part of it; \"\" is the system's default card.")
    ] = ""
    echo: Annotated[
        Literal["cancel", "hardware", "none"],
        Meta(
            description='What keeps the appliance from hearing itself: "cancel" takes its voice out of what the '
            'microphone hears, with "hardware" the card does that, and with "none" nothing does: then only a wake '
            "word, the button or stop interrupts a reply, not any speech."
        ),
    ] = "cancel"
    automatic_gain: Annotated[
        bool,
        Meta(
            description="Whether what the microphone hears is made louder in a quiet room, so that soft words are "
            "understood. A card that does it itself need not have it done twice."
        ),
    ] = True


class Speaker(Struct, frozen=True):
    """Where the appliance speaks, and how loud."""

    card: Annotated[
        str, Meta(description="The sound card's name, or a part of it; \"\" is the system's default card.")
    ] = ""
    volume: Annotated[
        int,
        Meta(
            ge=0,
            le=10,
            description="How loud it speaks, until somebody asks it to speak louder or softer; 0 is silence.",
        ),
    ] = 8
    quiet_hours: Annotated[
        str,
        Meta(description='The hours in which it speaks softly, from when to when: "22:00-07:00"; "" for none.'),
    ] = ""
    quiet_volume: Annotated[int, Meta(ge=0, le=10, description="How loud it speaks then at most.")] = 3
    follow: Annotated[
        bool,
        Meta(description="Whether it answers soft words softly, and loud ones louder, as your words usually are."),
    ] = True

    @property
    def quiet(self) -> tuple[time, time] | None:
        """From when to when the quiet hours are. ValueError: that is not what was written."""
        if not self.quiet_hours:
            return None
        begin, end = self.quiet_hours.split("-")
        return _time_of_day(begin), _time_of_day(end)


class Button(Struct, frozen=True):
    """The push button, on the pins of a Raspberry Pi; other machines do without."""

    pin: Annotated[
        Annotated[int, Meta(ge=0, le=27)] | Literal["none"],
        Meta(description='The BCM number of the pin that it connects to ground; "none" if there is no button.'),
    ] = 17


class Wake(Struct, frozen=True):
    """How you call the appliance."""

    words: Annotated[
        tuple[str, ...],
        Meta(
            min_length=1,
            description="The wake words; `appliance models list` shows which there are. One of your own is the path of "
            "its .onnx file, from / on; it is called as the file is, without .onnx.",
        ),
    ] = ("alexa",)
    threshold: Annotated[
        float,
        Meta(
            ge=0.05,
            le=0.99,
            description="The score that a wake word takes; with a lower one it wakes more easily, also by mistake. "
            "From 0.999 on a score counts at once. Below that, and down to a fifth of the threshold, speech-to-text "
            "has to hear the word, too; where it can't tell, the threshold decides.",
        ),
    ] = 0.5
    playback_threshold: Annotated[
        float,
        Meta(
            ge=0.05,
            le=0.99,
            description="The score that a wake word takes at least while the appliance speaks, and hears itself.",
        ),
    ] = 0.3
    refractory: Annotated[
        float, Meta(ge=0, le=10, description="Seconds after a wake word in which it does not wake again.")
    ] = 1.0
    thresholds: Annotated[
        dict[str, Threshold],
        Meta(description="The score of single words, where it is to be another: hey_jarvis = 0.6."),
    ] = field(default_factory=dict)

    @property
    def scores(self) -> dict[str, float]:
        """Each wake word, as `words` has it, and the score that it takes."""
        return {word: self.thresholds.get(name_of(word), self.threshold) for word in self.words}

    @property
    def names(self) -> tuple[str, ...]:
        """What the wake words are called."""
        return tuple(map(name_of, self.words))

    @property
    def installed(self) -> tuple[str, ...]:
        """Those that come with the appliance."""
        return tuple(word for word in self.words if not is_file(word))

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the others."""
        return tuple(filter(is_file, self.words))


class Listening(Struct, frozen=True):
    """When your turn begins and ends."""

    pause: Annotated[
        float, Meta(ge=0.2, le=3, description="Seconds of silence after your words that end your turn.")
    ] = 0.45
    patience: Annotated[
        float, Meta(ge=1, le=30, description="Seconds after the wake word in which you have to begin to speak.")
    ] = 5.0
    limit: Annotated[
        float, Meta(ge=2, le=60, description="Seconds after which your turn ends even if you, or the noise, go on.")
    ] = 15.0
    preroll: Annotated[
        float,
        Meta(ge=0.5, le=2, description="Seconds of sound before a wake word is recognised that hold the word itself."),
    ] = 1.0


class Interruption(Struct, frozen=True):
    """What may interrupt a reply. A wake word and the button that may not have their turn when the reply is over."""

    allowed: Annotated[
        bool, Meta(description="Whether a reply may be interrupted at all; if not, the rest of this table is moot.")
    ] = True
    button: Annotated[bool, Meta(description="Whether the button, and `appliance press`, interrupt.")] = True
    wake_word: Annotated[bool, Meta(description="Whether a wake word interrupts.")] = True
    stop_word: Annotated[bool, Meta(description='Whether "stop", without a wake word, interrupts.')] = True
    speech: Annotated[
        bool,
        Meta(description="Whether any other speech interrupts. It pauses the reply until it is clear what was said."),
    ] = True
    minimum_speech: Annotated[
        float, Meta(ge=0.1, le=2, description="Seconds that speech has to last before it pauses a reply.")
    ] = 0.3


class LanguageModel(Struct, frozen=True):
    """A language model in your network, which answers what the appliance cannot; without one it does what it can."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether a language model is asked what the appliance cannot answer by itself. What you ask it "
            "leaves this machine, but not your network, unless you name a server elsewhere."
        ),
    ] = True
    servers: Annotated[
        tuple[str, ...],
        Meta(
            description='Servers of your own, asked before all others: "http://gpu.lan:8080/v1", "gpu.lan:11434", or a '
            'service in your DNS, "_openai._tcp.lan".',
        ),
    ] = ()
    search: Annotated[
        bool,
        Meta(
            description="Whether servers are looked for in your network and on this machine. The first one found is "
            "used; others have to be trusted with `appliance llm trust`.",
        ),
    ] = True
    local_model: Annotated[
        str,
        Meta(
            description="A model that this machine serves itself, asked after all others: the name of an installed "
            "one, which `appliance models list` shows, or the path of a .gguf file, from / on. It takes the extra "
            'local-llm; "" is none.',
        ),
    ] = ""
    model: Annotated[str, Meta(description='The model to ask for; "" is whichever the server has.')] = ""
    key_file: Annotated[
        str,
        Meta(description='A file with the key that your own servers want to see; "" if they want none.'),
    ] = ""
    ca_file: Annotated[
        str, Meta(description='A file with the certificates of your own authority, in PEM format; "" if there is none.')
    ] = ""
    instructions: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=4000,
            description="What the model is told about itself. {time}, {date}, {room} and {language} are filled in.",
        ),
    ] = (
        "You are the voice of a smart speaker in the {room}. It is {time} on {date}. Answer in one to three short "
        "sentences of plain spoken {language}, without lists, formatting, links or emoji. If you do not know, say so. "
        "A dash at the end of one of your answers means that the user cut you off there."
    )
    room: Annotated[
        str, Meta(max_length=60, description='The room that the appliance stands in; "" if the model need not know.')
    ] = ""
    patience: Annotated[
        float, Meta(ge=2, le=60, description="Seconds in which you hear an answer, or why there is none.")
    ] = 6.0
    history: Annotated[
        int, Meta(ge=0, le=100_000, description="Characters of the conversation so far that the model is told.")
    ] = 4000
    follow_up: Annotated[
        float,
        Meta(
            ge=0, le=30, description="Seconds after its answer in which you can go on without a wake word; 0 for never."
        ),
    ] = 5.0


class SpeechToText(Struct, frozen=True):
    """What turns your words into text."""

    engine: Annotated[
        Literal["auto", "moonshine", "vosk"],
        Meta(description='The engine; "auto" is Moonshine for English and Vosk for every other language.'),
    ] = "auto"


class Voice(Struct, frozen=True):
    """What the appliance speaks with."""

    name: Annotated[
        str,
        Meta(
            min_length=1,
            description='The voice; `appliance models list` shows which there are. "auto" is one of your language.',
        ),
    ] = "auto"


class Service(Struct, frozen=True):
    """How the appliance looks after itself."""

    confirm: Annotated[
        float,
        Meta(
            ge=3,
            le=120,
            description="Seconds in which the appliance has to work well after a change of its configuration; "
            "otherwise the change is taken back.",
        ),
    ] = 10.0


class Settings(Struct, frozen=True):
    """The whole configuration."""

    profile: Annotated[
        Literal["none", "jetson", "pi-usb", "respeaker-2mic", "respeaker-4mic", "respeaker-usb"],
        Meta(
            description='Defaults for your hardware, which the rest of this configuration goes before; "none" if none '
            "fits. The files in config/profiles explain each.",
        ),
    ] = "none"
    language: Annotated[
        str,
        Meta(
            min_length=2,
            max_length=3,
            description='The language that you speak with the appliance: "de", "en", "es", "fr", "it" or "ko".',
        ),
    ] = "en"
    microphone: Microphone = Microphone()
    speaker: Speaker = Speaker()
    button: Button = Button()
    wake: Wake = field(default_factory=Wake)
    listening: Listening = Listening()
    interruption: Interruption = Interruption()
    llm: LanguageModel = LanguageModel()
    stt: SpeechToText = SpeechToText()
    voice: Voice = Voice()
    service: Service = Service()

    @property
    def engine(self) -> Literal["moonshine", "vosk"]:
        """The speech-to-text engine that is meant."""
        if self.stt.engine == "auto":
            return "moonshine" if self.language == "en" else "vosk"
        return self.stt.engine

    @property
    def voice_name(self) -> str:
        """The voice that is meant."""
        if self.voice.name == "auto":
            return _VOICES.get(self.language, _VOICES["en"])
        return self.voice.name

    def contradictions(self) -> Iterator[Contradiction]:
        """What is wrong with the whole though each value for itself is right."""
        try:
            _ = self.speaker.quiet
        except ValueError:
            wrong = f"{wording.quoted(self.speaker.quiet_hours)} are no hours"
            yield Contradiction(("speaker", "quiet_hours"), wrong, 'two times, as in "22:00-07:00", or ""', ())
        words = self.wake.names
        for path in self.wake.files:
            if not path.startswith("/"):
                wrong = f"{wording.quoted(path)} is no path from / on"
                yield Contradiction(("wake", "words"), wrong, "names of wake words, and paths of .onnx files", ())
        if twice := next((word for word in words if words.count(word) > 1), None):
            wrong = f"has two wake words called {wording.quoted(twice)}"
            yield Contradiction(("wake", "words"), wrong, "wake words with names of their own", ())
        for word in self.wake.thresholds:
            if word not in words:
                yield Contradiction(("wake", "thresholds", word), "is none of the words", wording.any_of(words), words)
        speaks, _, region = self.voice.name.partition("_")
        if region and speaks in _VOICES and speaks != self.language:
            wrong = f"speaks {wording.quoted(speaks)}, not {wording.quoted(self.language)}"
            yield Contradiction(("voice", "name"), wrong, '"auto", or a voice of your language', ())
