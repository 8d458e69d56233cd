"""Which engine turns speech into text. Only the one that is used is imported: each costs memory."""

from pathlib import Path
from typing import Literal

from appliance.errors import BadInputError
from appliance.hearing.stt import Recogniser

_MOONSHINE = "stt/moonshine-tiny-en"


def load_recogniser(engine: Literal["moonshine", "vosk"], language: str, models: Path) -> Recogniser:
    """The engine for `language`, loaded from the folder of all models.

    BadInputError when the engine has no such language, ApplianceError when its model cannot be used.
    """
    if engine == "vosk":
        from appliance.hearing.vosk import Vosk

        return Vosk(models / f"stt/vosk-{language}", language)
    if language != "en":
        found = f'"moonshine" does not understand "{language}"'
        raise BadInputError("stt.engine", found, allowed='"moonshine" with "en", "vosk" with any language')
    from appliance.hearing.moonshine import Moonshine

    return Moonshine(models / _MOONSHINE)
