"""The page of the documentation that shows the table of the conversation: docs/conversation.md."""

from inspect import getdoc

from appliance.core.state import Phase
from appliance.core.turn import TABLE, Row

COMMAND = "python -c 'from appliance.core.diagram import page; print(page(), end=\"\")' > docs/conversation.md"
"""What writes the page."""

_INTRODUCTION = f"""\
# The conversation

The conversation is always in one of these phases:

{{phases}}

`appliance/core/turn.py` holds the table of what moves it from one to another, and the rules behind it. This page is
made from that table, and a test holds them together; after a change of the table, write it anew:

    {COMMAND}

What `docs/interruption.md` says about silence happens before any of this: a trigger silences the reply in its own
thread, and only then does its event come here.
"""

_PHASES = {
    Phase.IDLE: "Nothing is going on; the wake word and the button are waited for.",
    Phase.LISTENING: "The user's words are taken down.",
    Phase.THINKING: "The words are turned into text, and the answer is found.",
    Phase.SPEAKING: "The reply is made, and plays.",
    Phase.PAUSED: "Somebody speaks during the reply, which waits until it is known what that means.",
}


def page() -> str:
    """The whole page, as Markdown with a Mermaid diagram."""
    phases = "\n".join(f"- **{phase.value}**: {_PHASES[phase]}" for phase in Phase)
    rows = "\n".join(_table_row(row) for row in TABLE)
    return (
        f"{_INTRODUCTION.format(phases=phases)}\n{_diagram()}\n"
        "| in | event | if | goes to | what is done |\n|---|---|---|---|---|\n"
        f"{rows}\n"
    )


def _diagram() -> str:
    edges: dict[tuple[str, str], list[str]] = {}
    for row in TABLE:
        condition = f" [{_words(row.when.__name__)}]" if row.when else ""
        labels = edges.setdefault((row.phase.value, row.to.value), [])
        labels.append(row.event.__name__ + condition)
    lines = [f"    {begin} --> {end}: {'<br/>'.join(labels)}" for (begin, end), labels in edges.items() if begin != end]
    return "\n".join(["```mermaid", "stateDiagram-v2", "    [*] --> idle", *lines, "```", ""])


def _table_row(row: Row) -> str:
    condition = _words(row.when.__name__) if row.when else ""
    done = " ".join((getdoc(row.action) or "").split())
    cells = (row.phase.value, row.event.__name__, condition, row.to.value, f"*{_words(row.action.__name__)}*: {done}")
    return f"| {' | '.join(cells)} |"


def _words(name: str) -> str:
    return name.replace("_", " ")
