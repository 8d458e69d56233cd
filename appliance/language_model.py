"""The language model that the appliance asks, as the settings want it: servers in the network, and one in the box.

Without it the appliance still answers, so whatever goes wrong here ends here, and stands in its status.
"""

import asyncio
import importlib
import logging
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.config.schema import Settings
from appliance.errors import ApplianceError
from appliance.quests import Quest, QuestManager
from appliance.service.request import ListedServer
from appliance.thinking.mind import Mind
from appliance.thinking.phrases import PHRASES

if TYPE_CHECKING:
    from appliance.thinking.local_model import LocalModel

_log = logging.getLogger(__name__)

SERVING = "model in the box"
"""The quest that serves a language model on this machine."""


class LanguageModel:
    """Gives `mind` a model to ask while `use` runs. `directory` remembers which servers are trusted."""

    def __init__(self, settings: Settings, directory: Path | None, now: Callable[[], datetime], mind: Mind) -> None:
        """Without a `directory` none is looked for."""
        self._settings = settings
        self._wants = settings.llm
        self._directory = directory
        self._now = now
        self._mind = mind
        self.problem = ""
        """Why none is asked, or served, in one line."""

    def start(self, quests: QuestManager) -> None:
        """Begin to look for it, if it is wanted."""
        if self._wants.enabled and self._directory is not None:
            directory = self._directory
            quests.start(Quest.from_run_step("language model", lambda: self._use(directory, quests)))

    def servers(self) -> tuple[ListedServer, ...]:
        """Those that are known now. From any thread."""
        model = self._mind.model
        if model is None:
            return ()
        from appliance.service.listing import listed  # which takes megabytes, where no model is used

        return listed(model.sights())

    def status(self) -> tuple[str, str]:
        """How the best server is, and which that is. From any thread."""
        if not self._wants.enabled:
            return "off", ""
        model = self._mind.model
        sights = [] if model is None else model.sights()
        found = [(sight.state.value, sight.server.name) for sight in sights if sight.verdict.allowed]
        return next((each for each in found if each[0] == "ready"), next(iter(found), ("none found", "")))

    async def _use(self, directory: Path, quests: QuestManager) -> None:
        await asyncio.to_thread(importlib.import_module, "appliance.thinking.lan")  # takes megabytes, and its time
        from appliance.thinking.lan import Wishes, lan_model

        wants = self._wants
        wishes = Wishes(
            places=wants.servers,
            search=wants.search,
            model=wants.model,
            key_file=Path(wants.key_file) if wants.key_file else None,
            ca_file=Path(wants.ca_file) if wants.ca_file else None,
            instructions=wants.instructions,
            room=wants.room,
            characters=wants.history,
            patience=wants.patience,
        )
        try:
            own = await self._local_model(directory) if wants.local_model else None
            async with lan_model(wishes, PHRASES[self._settings.language], directory, self._now, own) as model:
                self._mind.model = model
                if own is not None:
                    quests.start(_serving(own))
                await asyncio.Event().wait()
        except ApplianceError as error:
            _log.error("no language model is asked: %s", error)
            self.problem = f"no language model is asked: {error}"
        except Exception as error:  # noqa: BLE001  the skills still answer
            _log.exception("no language model is asked any more")
            self.problem = f"no language model is asked any more: {error!r}"
        finally:
            self._mind.model = None
            quests.discard(SERVING)

    async def _local_model(self, directory: Path) -> "LocalModel | None":
        """The model in the box, which does not run yet; None, and the owner is told, when there cannot be one."""
        from appliance.models.weights import find_weights
        from appliance.thinking.local_model import LocalModel, require_llama_cpp

        try:
            await asyncio.to_thread(require_llama_cpp)
            return LocalModel(await asyncio.to_thread(find_weights, self._wants.local_model, directory))
        except ApplianceError as error:
            _log.error("no language model is served here: %s", error)
            self.problem = f"no language model is served here: {error}"
            return None


def _serving(model: "LocalModel") -> "Quest[None]":
    async def keep(_: None) -> None:
        await model.keep()

    async def close(_: None) -> None:
        await model.close()

    return Quest(SERVING, model.start, keep, close)
