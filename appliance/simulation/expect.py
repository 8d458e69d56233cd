"""Whether the turns of a run are what its scenario expects."""

from collections.abc import Sequence

from appliance.simulation.scenario import Expect
from appliance.simulation.timeline import PastTurn

_MOST = 10


def unmet(expects: Sequence[Expect], turns: Sequence[PastTurn]) -> str:
    """What was expected first but did not come, and what came instead, in several lines; empty if all came.

    Expectations are met in their order, each by a later turn than the one before; other turns may come in between.
    """
    met = 0
    for number, expect in enumerate(expects, 1):
        found = next((place for place in range(met, len(turns)) if not _misses(expect, turns[place])), None)
        if found is None:
            return "\n".join(_report(expect, f"expectation {number} of {len(expects)}", turns, met))
        met = found + 1
    return ""


def _misses(expect: Expect, turn: PastTurn) -> list[str]:
    """The names of the patterns that `turn` does not match. What never came matches nothing."""
    came = {name: getattr(turn, name) for name in expect.patterns}
    return [name for name, pattern in expect.patterns.items() if came[name] is None or not pattern.search(came[name])]


def _report(expect: Expect, which: str, turns: Sequence[PastTurn], met: int) -> list[str]:
    lines = [f"{expect.place}: {which} was not met:"]
    lines += [f"    {name:<6}  /{pattern.pattern}/" for name, pattern in expect.patterns.items()]
    before = f"after turn {turns[met - 1].generation}, which met the one before" if met else "in the whole run"
    if met == len(turns):
        return [*lines, f"  no turn came {before}"]
    lines.append(f"  these turns came {before}:")
    for turn in turns[met : met + _MOST]:
        misses = _misses(expect, turn)
        lines.append(f"  turn {turn.generation}, at {turn.at:.2f} s:")
        for name in ("heard", "intent", "reply"):
            came = getattr(turn, name)
            text = "(nothing)" if came is None else f'"{came}"'
            lines.append(f"    {name:<6}  {text}" + ("   <- does not match" if name in misses else ""))
    if len(turns) > met + _MOST:
        lines.append(f"  and {len(turns) - met - _MOST} more")
    return lines
