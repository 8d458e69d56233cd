"""Asks the model of the LAN. Run at a host of a test's network; obeys lines of JSON, and says what came of it."""

import asyncio
import contextlib
import json
import logging
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from appliance.thinking.history import History
from appliance.thinking.lan import Wishes, lan_model
from appliance.thinking.lan_model import LanModel
from appliance.thinking.phrases import en


async def main(settings: dict[str, Any]) -> None:
    """Until its input ends."""
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    wishes = Wishes(
        settings.get("places", []), settings.get("search", True), "", None, None, "Be kind.", "", 1000, 60.0
    )
    async with lan_model(wishes, en, Path(settings["directory"]), lambda: datetime.now(UTC)) as model:
        telling = asyncio.create_task(tell(model))
        while command := await commands.readline():
            await ask(model, json.loads(command)["ask"])
        telling.cancel()
        await asyncio.wait({telling})
    pipe.close()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        raise RuntimeError(f"left behind: {left}")


async def ask(model: LanModel, question: str) -> None:
    """One question; each piece of the reply is told, and then the whole."""
    history = History()
    history.ask(1, question)
    began, pieces = time.monotonic(), []
    async with contextlib.aclosing(model.words(history)) as words:
        async for piece in words:
            pieces.append(piece)
            say(piece=piece, after=time.monotonic() - began)
    say(reply="".join(pieces), by=model.answered_by)


async def tell(model: LanModel) -> None:
    """How the servers stand, at first and after each change."""
    before: object = None
    while True:
        standing = [
            [sight.server.name, sight.server.url, sight.state.value, sight.verdict.name] for sight in model.sights()
        ]
        if standing != before:
            before = standing
            say(standing=standing)
        await asyncio.sleep(0.05)


def say(**what: object) -> None:
    """A line of JSON."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(json.loads(sys.argv[1])))
