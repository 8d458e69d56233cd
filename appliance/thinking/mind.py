"""Who answers: the offline skills if they understand, a language model if there is one, or else an honest sentence."""

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING

from appliance.thinking.answer import Answer, Wording
from appliance.thinking.history import History
from appliance.thinking.offline import UNKNOWN, Offline

if TYPE_CHECKING:
    from appliance.thinking.lan_model import LanModel  # which takes megabytes, where no model is used

MODEL = "model"
"""The intent of what a language model answers."""


class Mind:
    """Belongs to the event loop."""

    def __init__(self, offline: Offline, model: "LanModel | None" = None) -> None:
        self._offline = offline
        self.model = model
        """Who is asked what no skill understands; may come and go."""

    async def answer(self, heard: str, history: History) -> Answer | Wording:
        """The answer to `heard`, which is the last question of `history`."""
        answer = await asyncio.to_thread(self._offline.answer, heard, history)
        model = self.model
        if answer.intent != UNKNOWN or model is None:
            return answer
        return Wording(MODEL, model.words(history), lambda: model.answered_by)

    def understands(self, heard: str) -> bool:
        """Whether a skill is meant by `heard`. Takes milliseconds."""
        return self._offline.understands(heard)

    def means_stop(self, heard: str) -> bool:
        """Whether `heard` wants nothing but silence. Takes milliseconds."""
        return self._offline.means_stop(heard)

    @property
    def back_channels(self) -> Collection[str]:
        """What listeners say without wanting to speak."""
        return self._offline.back_channels

    def apology(self) -> str:
        """What to say when something of ours broke."""
        return self._offline.apology()
