"""Looks for servers of a language model as the running appliance would, where none runs. Nobody is trusted by it."""

import asyncio
from datetime import datetime
from pathlib import Path

from appliance.config.schema import LanguageModel
from appliance.service.listing import MOST
from appliance.service.request import ListedServer
from appliance.thinking.discovery import Discovery, parse_place
from appliance.thinking.keys import read_key
from appliance.thinking.llm import LlmClient
from appliance.thinking.server import Server, ServerError, Source
from appliance.thinking.standing import State
from appliance.thinking.trust import Verdict, verdict
from appliance.thinking.truststore import TrustStore

SEARCH = 4.0
"""Seconds in which the network is asked three times."""

TRIAL = 2.0
"""Seconds in which a server says which models it has."""


def found(wanted: LanguageModel, directory: Path) -> list[ListedServer]:
    """Those that there are, and whether they answer; `directory` has whom the owner trusts.

    The first one that is found may be asked, so it counts as trusted. ApplianceError: what is wanted is no server.
    """
    return asyncio.run(_found(wanted, directory))


async def _found(wanted: LanguageModel, directory: Path) -> list[ListedServer]:
    places, search = [parse_place(text) for text in wanted.servers], wanted.search
    known = TrustStore(directory, lambda: datetime.now().astimezone()).known()
    discovery = Discovery(places, mdns=search, dns=search, local=search)
    await discovery.start()
    try:
        await asyncio.sleep(SEARCH)
        servers = discovery.servers()[:MOST]

        def key(server: Server) -> str:
            return read_key(Path(wanted.key_file)) if wanted.key_file and server.source is Source.CONFIGURED else ""

        async with LlmClient(keys=key, ca_file=Path(wanted.ca_file) if wanted.ca_file else None) as client:
            return await asyncio.gather(*(_listed(client, server, verdict(server, known)) for server in servers))
    finally:
        await discovery.stop()


async def _listed(client: LlmClient, server: Server, said: Verdict) -> ListedServer:
    state, why = State.READY.value, ""
    if not said.allowed:
        state = State.UNTRIED.value
    else:
        try:
            async with asyncio.timeout(TRIAL):
                await client.models(server)
        except ServerError as error:
            state, why = error.problem.value, error.detail
        except TimeoutError:
            state, why = "broken", f"no answer in {TRIAL:g} s"
    return ListedServer(server.name, server.url, server.source.name.lower(), said.allowed, state, why)
