"""Random histories of quests and callers obey the rules at the top of `appliance.quests.manager`.

Some are drawn by hypothesis, which shrinks one that fails; most by a random generator, five times as fast, from a seed
that draws the same one again. The environment may say: QUEST_DRAWN, how many by hypothesis (1,000); QUEST_SEEDED, how
many from seeds (9,000); and QUEST_SEED, the first seed (a random one).
"""

import os
import random
import secrets
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.quests.histories.corners import CORNERS, KINDS
from tests.quests.histories.course import play
from tests.quests.histories.drawing import a_history
from tests.quests.histories.plans import History

T = TypeVar("T")

DRAWN = int(os.environ.get("QUEST_DRAWN", "1000"))
SEEDED = int(os.environ.get("QUEST_SEEDED", "9000"))
FIRST_SEED = int(os.environ.get("QUEST_SEED", secrets.randbelow(10**9)))


@st.composite
def histories(draw: st.DrawFn) -> History:
    def pick(options: Sequence[T]) -> T:
        return options[draw(_below(len(options)))]

    return a_history(pick)


@cache
def _below(count: int) -> st.SearchStrategy[int]:
    return st.integers(0, count - 1)  # half the cost of sampled_from


def test_drawn_histories_obey_the_rules() -> None:
    happened: Counter[str] = Counter()

    @settings(max_examples=DRAWN, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(history=histories())
    def obey(history: History) -> None:
        wrong, seen = play(history)
        assert wrong == []
        happened.update(seen)

    obey()
    check_kinds(happened, DRAWN)


def test_seeded_histories_obey_the_rules() -> None:
    happened: Counter[str] = Counter()
    for seed in range(FIRST_SEED, FIRST_SEED + SEEDED):
        history = a_history(random.Random(seed).choice)  # noqa: S311
        try:
            wrong, seen = play(history)
            assert wrong == []
        except BaseException as error:
            again = f"QUEST_SEED={seed} QUEST_SEEDED=1 pytest -k seeded {__file__}"
            error.add_note(f"{history}\n\nTo play it again: {again}")
            raise
        happened.update(seen)
    check_kinds(happened, SEEDED)
    assert [corner for corner in CORNERS if happened[corner] < SEEDED // 1000] == []


def check_kinds(happened: Counter[str], histories_played: int) -> None:
    """Histories in which some kind of thing hardly happens would prove little."""
    times = {kind: sum(happened[corner] for corner in corners) for kind, corners in KINDS.items()}
    assert [kind for kind in KINDS if times[kind] < histories_played // 100] == []
    assert happened.keys() <= CORNERS
