"""All that a language model on the LAN takes, from finding its servers to wording answers.

What is heavy of it is loaded in a thread, and only once a model is used: the loop may have a conversation to conduct.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Protocol

from appliance.thinking.choosing import Chooser
from appliance.thinking.discovery import Discovery, parse_place
from appliance.thinking.history import History
from appliance.thinking.keys import read_key
from appliance.thinking.lan_model import LanModel
from appliance.thinking.phrases import Phrases
from appliance.thinking.prompt import Message, fill_in, shorter_and_shorter
from appliance.thinking.server import Server, Source
from appliance.thinking.truststore import TrustStore

if TYPE_CHECKING:
    from appliance.thinking.llm import LlmClient


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the owner wants of it."""

    places: Sequence[str]
    """The servers that the owner named."""
    search: bool
    """Whether others are looked for."""
    model: str
    """The model to ask for; empty for whichever a server has."""
    key_file: Path | None
    """What is shown to the servers that the owner named, and to no others."""
    ca_file: Path | None
    instructions: str
    room: str
    characters: int
    """How much of the conversation it is told."""
    patience: float
    """Seconds until the first words."""


class Found(Protocol):
    """Who knows servers, as `Discovery` does."""

    version: int
    """Another number each time that `servers` has changed."""

    def servers(self) -> Sequence[Server]:
        """Those that are known now."""

    async def changed(self, since: int) -> int:
        """The `version`, as soon as it is another one than `since`."""


class Own(Found, Protocol):
    """The appliance's own servers."""

    key: str
    """What they want to see."""


@asynccontextmanager
async def lan_model(
    wishes: Wishes, phrases: Phrases, directory: Path, now: Callable[[], datetime], own: Own | None = None
) -> AsyncIterator[LanModel]:
    """A model to ask, while it is entered. `directory` remembers which servers are trusted; `own` are the appliance's.

    BadInputError: a place names no server. ApplianceError: there are no certificates in the file.
    """
    search = wishes.search
    discovery = Discovery([parse_place(text) for text in wishes.places], mdns=search, dns=search, local=search)

    def servers() -> list[Server]:
        found = [replace(each, model=wishes.model or each.model) for each in discovery.servers()]
        return found if own is None else together(found, own.servers())

    def key(server: Server) -> str:
        if own is not None and server in own.servers():
            return own.key
        is_own = server.source is Source.CONFIGURED and wishes.key_file is not None
        return read_key(wishes.key_file) if is_own and wishes.key_file is not None else ""

    def tell(history: History) -> Iterator[list[Message]]:
        instructions = fill_in(wishes.instructions, now(), wishes.room, phrases.NAME)
        return shorter_and_shorter(instructions, history.exchanges, wishes.characters)

    client_class = await asyncio.to_thread(_load_client)
    async with client_class(keys=key, ca_file=wishes.ca_file) as client:
        trust = TrustStore(directory, now)
        chooser = Chooser(client, servers, trust, Random(), discovery.reconfirm)  # noqa: S311  which of equals, only
        model = LanModel(client, chooser, phrases, tell, wishes.patience, discovery.refresh)
        await discovery.start()
        try:
            async with asyncio.TaskGroup() as tasks:
                background = [tasks.create_task(chooser.run()), tasks.create_task(_follow(discovery, chooser))]
                if own is not None:
                    background.append(tasks.create_task(_follow(own, chooser)))
                try:
                    yield model
                finally:
                    for task in background:
                        task.cancel()
        finally:
            await model.close()
            await discovery.stop()


def together(found: Sequence[Server], own: Sequence[Server]) -> list[Server]:
    """All of them, but none that is only a guess where one of our own is."""
    guesses = {each.url.replace("127.0.0.1", "localhost") for each in own}
    return [*(each for each in found if each.source is not Source.LOCAL or each.url not in guesses), *own]


def _load_client() -> "type[LlmClient]":
    from appliance.thinking.llm import LlmClient

    return LlmClient


async def _follow(found: Found, chooser: Chooser) -> None:
    version = found.version
    while True:
        version = await found.changed(version)
        chooser.rouse()
