"""The page of the conversation is the table."""

import re
from pathlib import Path

from appliance.core.diagram import COMMAND, page
from appliance.core.turn import TABLE, Phase

PAGE = Path(__file__).parents[2] / "docs/conversation.md"


def test_the_page_in_the_documentation_is_the_table() -> None:
    assert PAGE.read_text("utf-8") == page(), f"write it anew with: {COMMAND}"


def test_the_diagram_has_every_way_from_phase_to_phase_and_no_other() -> None:
    drawn = set(re.findall(r"^    (\w+) --> (\w+): ", page(), re.MULTILINE))
    assert drawn == {(row.phase.value, row.to.value) for row in TABLE if row.phase is not row.to}
    assert {phase for way in drawn for phase in way} == {phase.value for phase in Phase}


def test_every_row_says_what_it_does() -> None:
    rows = [line for line in page().splitlines() if line.startswith("| ")][1:]
    assert len(rows) == len(TABLE)
    assert all(re.search(r"\*[a-z ]+\*: [A-Z].*\. \|$", line) for line in rows)
