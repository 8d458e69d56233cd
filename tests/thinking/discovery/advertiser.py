"""Advertises services by mDNS. Run at a host of a test's network; obeys lines of JSON, and says what it has done."""

import asyncio
import base64
import contextlib
import json
import sys
from typing import Any

from zeroconf import IPVersion, ServiceInfo
from zeroconf.asyncio import AsyncZeroconf


async def main() -> None:
    """Until its input ends, and then it says goodbye."""
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    async with AsyncZeroconf(ip_version=getattr(IPVersion, sys.argv[1])) as network:
        while command := await commands.readline():
            what = json.loads(command)
            match what["do"]:
                case "advertise":
                    await (await network.async_register_service(service(what), cooperating_responders=True))
                case "change":
                    await network.async_update_interfaces()
                    await (await network.async_update_service(service(what)))
                case "send":
                    for sender in network.zeroconf.engine.senders:
                        sender.transport.sendto(base64.b64decode(what["packet"]), ("224.0.0.251", 5353))
            sys.stdout.write(command.decode())
            sys.stdout.flush()
    pipe.close()


def service(what: dict[str, Any]) -> ServiceInfo:
    """As it was ordered; the texts are those of bytes in Latin-1."""
    kind = f"{what.get('type', '_openai._tcp')}.local."
    txt = {key.encode("latin-1"): value.encode("latin-1") for key, value in what.get("txt", {}).items()}
    return ServiceInfo(
        kind,
        f"{what['label']}.{kind}",
        port=what.get("port", 8080),
        priority=what.get("priority", 0),
        weight=what.get("weight", 0),
        properties=txt,
        server=f"{what.get('host', what['label'])}.local.",
        parsed_addresses=what["addresses"],
    )


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
