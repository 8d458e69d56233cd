"""The order in which servers are asked: RFC 2782, across all sources."""

from collections.abc import Iterable
from itertools import groupby
from random import Random

from appliance.thinking.server import Server


def draw_order(servers: Iterable[Server], random: Random) -> list[Server]:
    """By source, kind and priority; among equals drawn anew at each call, each as often first as its weight says.

    Those of one name are the addresses of one machine: they stay together, and in their order.
    """
    order: list[Server] = []
    for _, equals in groupby(sorted(servers, key=_rank), key=_rank):
        machines: dict[str, list[Server]] = {}
        for server in equals:
            machines.setdefault(server.name, []).append(server)
        order += _drawn(list(machines.values()), random)
    return order


def _rank(server: Server) -> tuple[int, int, int]:
    return server.source, server.kind, server.priority


def _drawn(machines: list[list[Server]], random: Random) -> list[Server]:
    order: list[Server] = []
    random.shuffle(machines)
    machines.sort(key=lambda machine: machine[0].weight > 0)  # so that those without a weight have a small chance
    while machines:
        drawn = random.randint(0, sum(machine[0].weight for machine in machines))
        for number, machine in enumerate(machines):
            drawn -= machine[0].weight
            if drawn <= 0:
                order += machines.pop(number)
                break
    return order
