"""What `appliance llm trust` and `forget` do: in the running appliance where there is one, else in the command."""

from collections.abc import Sequence

from appliance.config.wording import any_of, meant, quoted, shown
from appliance.errors import BadInputError
from appliance.service.request import ListedServer
from appliance.thinking.trust import find, same_name
from appliance.thinking.truststore import TrustStore


def trust(name: str, store: TrustStore, found: Sequence[ListedServer]) -> str:
    """Trust the server of that name, or address, among those that were found; returns what has come of it.

    BadInputError when there is none, or there are several.
    """
    remembered = find(name, store.known())
    server = _meant(name, found)
    if server is None and remembered is not None:
        return f"{name} is trusted already, and not there."
    if server is None:
        raise _unknown("trust", name, [each.name for each in found])
    if server.trusted:
        return f"{server.name} ({server.url}) is trusted already."
    store.trust(server.name, server.properties)
    return f"{server.name} ({server.url}) is trusted from now on."


def trust_unseen(name: str, store: TrustStore) -> str:
    """Trust whichever server will be found by that name, where nobody knows what there is."""
    if find(name, store.known()) is not None:
        return f"{name} is trusted already."
    store.trust(name, None)
    return f"{name} is trusted from now on."


def forget(name: str, store: TrustStore) -> str:
    """Trust it no longer; returns what has come of it. BadInputError when it never was."""
    if not store.forget(name):
        raise _unknown("forget", name, [each.name for each in store.known() or ()])
    return f"{name} is forgotten. No other takes its place by itself: see appliance llm list."


def _meant(name: str, found: Sequence[ListedServer]) -> ListedServer | None:
    for server in found:
        if server.url == name:
            return server
    fitting = [server for server in found if same_name(server.name, name)]
    if any(server.properties != fitting[0].properties for server in fitting):
        found_there = f"there are several of the name {quoted(name)}, and they are not the same"
        addresses = " or ".join(server.url for server in fitting)
        raise BadInputError("appliance llm trust", found_there, allowed=addresses, remedy="Name the address")
    return fitting[0] if fitting else None


def _unknown(command: str, name: str, names: Sequence[str]) -> BadInputError:
    found = f"there is no server {shown(name)}{meant(name, names)}"
    return BadInputError(
        f"appliance llm {command}", found, allowed=any_of(dict.fromkeys(names)), remedy="See: appliance llm list"
    )
