"""Looks for servers, and says each time what it knows. Run at a host of a test's network; obeys lines of JSON."""

import asyncio
import contextlib
import json
import logging
import sys
from typing import Any

import appliance.thinking.discovery as module
from appliance.thinking.discovery import Discovery, parse_place


async def main(settings: dict[str, Any]) -> None:
    """Until its input ends."""
    module.RETRY = settings.pop("retry", module.RETRY)
    places = [parse_place(place) for place in settings.pop("places", [])]
    discovery = Discovery(places, **{"local": False, **settings})
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    loop.slow_callback_duration = 10.0  # a busy machine is no failure
    pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    await discovery.start()
    telling = asyncio.create_task(tell(discovery))
    while command := await commands.readline():
        match json.loads(command):
            case {"do": "refresh"}:
                await discovery.refresh()
                say(refreshed=[server.url for server in discovery.servers()])
            case {"do": "reconfirm", "url": url}:
                for server in discovery.servers():
                    if server.url == url:
                        discovery.reconfirm(server)
    telling.cancel()
    await asyncio.wait({telling})
    await discovery.stop()
    pipe.close()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        raise RuntimeError(f"left behind: {left}")


async def tell(discovery: Discovery) -> None:
    """What it knows, at first and after each change."""
    version = discovery.version
    while True:
        say(
            servers=[
                {
                    "name": server.name,
                    "url": server.url,
                    "source": server.source.name,
                    "priority": server.priority,
                    "weight": server.weight,
                    "model": server.model,
                    "properties": dict(server.properties),
                }
                for server in discovery.servers()
            ]
        )
        version = await discovery.changed(version)


def say(**what: object) -> None:
    """A line of JSON."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(json.loads(sys.argv[1])), debug=True)
