"""What is known without any network, and that nothing heavy is loaded for it."""

import asyncio
import subprocess
import sys

from appliance.thinking.discovery import Discovery, parse_place
from appliance.thinking.server import Source


def test_before_it_starts_and_without_ever_starting() -> None:
    async def main() -> None:
        discovery = Discovery([parse_place("10.0.0.5:8080")])
        assert [server.source for server in discovery.servers()] == [Source.LOCAL] * 4
        await discovery.refresh()
        discovery.reconfirm(discovery.servers()[0])
        await discovery.stop()

    asyncio.run(main())


def test_what_is_configured_comes_before_this_machine_and_what_is_both_is_there_as_both() -> None:
    async def main() -> None:
        places = [parse_place("10.0.0.5:8080"), parse_place("localhost:11434")]
        discovery = Discovery(places, mdns=False, dns=False)
        await discovery.start()
        await discovery.refresh()
        assert [(server.url, server.source) for server in discovery.servers()] == [
            ("http://10.0.0.5:8080/v1", Source.CONFIGURED),
            ("http://localhost:11434/v1", Source.CONFIGURED),
            ("http://localhost:8080/v1", Source.LOCAL),
            ("http://localhost:11434/v1", Source.LOCAL),
            ("http://localhost:1234/v1", Source.LOCAL),
            ("http://localhost:8000/v1", Source.LOCAL),
        ]
        await discovery.stop()
        assert len(discovery.servers()) == 6
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_it_can_be_stopped_at_once() -> None:
    async def main() -> None:
        discovery = Discovery(mdns=False, dns=False)
        await discovery.start()
        await discovery.stop()
        await discovery.stop()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_nothing_heavy_is_loaded_before_it_starts() -> None:
    script = """
import sys
import appliance.thinking.discovery as discovery
import appliance.thinking.lan
discovery.Discovery([discovery.parse_place("gpu.lan:8080")]).servers()
sys.exit(", ".join({"zeroconf", "dns", "aiohttp"} & set(sys.modules)) or None)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
