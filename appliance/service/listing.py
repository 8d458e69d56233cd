"""What the control socket tells of the servers of a language model."""

from collections.abc import Sequence

from appliance.service.request import ListedServer
from appliance.thinking.choosing import Sight
from appliance.thinking.trust import key_properties

MOST = 100
"""Servers that are told of: anyone on the LAN can advertise more than anybody wants to read."""


def listed(sights: Sequence[Sight]) -> tuple[ListedServer, ...]:
    """The servers in the order in which they are asked, those that may not be asked last."""
    ordered = sorted(sights, key=lambda sight: (not sight.verdict.allowed, sight.server.source, sight.server.priority))
    return tuple(map(_listed, ordered[:MOST]))


def _listed(sight: Sight) -> ListedServer:
    server = sight.server
    return ListedServer(
        server.name,
        server.url,
        server.source.name.lower(),
        sight.verdict.trusted,
        sight.state.value,
        sight.why,
        sight.next_try,
        key_properties(server),
    )
