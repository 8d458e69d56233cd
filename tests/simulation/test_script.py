from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.simulation.scenario import Moment, parse
from appliance.simulation.script import BLOCK, Script

RATE = 16_000


def script(*steps: str, head: str = "") -> Script:
    """Each step is `say` or `press`, and the rest of its table."""
    tables = [
        f"[[{kind}]]\n" + ('text = "a"\n' if kind == "say" else "") + rest for kind, _, rest in map(_split, steps)
    ]
    return Script(parse("\n".join([head, *tables]), Path("a.toml")))


def _split(step: str) -> tuple[str, str, str]:
    return step.partition(" ")


def begun(script: Script, until: float, since: float = 0.0) -> list[tuple[int, float]]:
    """What begins in the blocks from `since` to `until`, as step and time."""
    blocks = range(round(since * RATE), round(until * RATE), BLOCK)
    return [(cue.index, cue.begin / RATE) for begin in blocks for cue in script.starting(begin, begin + BLOCK)]


def test_steps_with_a_time_begin_then_wherever_they_stand() -> None:
    assert begun(script("say at = 2", "say at = 1", "say after = 'idle'"), 3) == [(1, 1.0), (0, 2.0)]


def test_what_is_said_begins_at_the_exact_sample_and_a_press_with_the_next_block() -> None:
    assert begun(script("say at = 0.00125", "press at = 0.00125", "press at = 0.02"), 1) == [
        (0, 0.00125),
        (1, 0.01),
        (2, 0.02),
    ]


def test_a_step_waits_for_its_moment_and_its_delay() -> None:
    it = script("say after = 'wake'\ndelay = 0.5")
    assert begun(it, 1) == []
    it.moment(Moment.REPLY, 1.0)
    it.moment(Moment.WAKE, 1.25)
    assert begun(it, 3, since=1) == [(0, 1.75)]


def test_what_is_due_in_the_past_begins_at_once() -> None:
    it = script("say after = 'wake'")
    it.moment(Moment.WAKE, 1.0)
    assert begun(it, 3, since=2) == [(0, 2.0)]


def test_a_step_waits_for_the_step_before_it() -> None:
    it = script("say after = 'idle'", "press after = 'reply'")
    it.moment(Moment.REPLY, 1.0)
    it.moment(Moment.IDLE, 2.0)
    assert begun(it, 3) == [(0, 2.0)]
    it.moment(Moment.REPLY, 3.0)
    assert begun(it, 4, since=3) == [(1, 3.0)]


def test_a_moment_at_the_very_time_of_the_step_before_counts() -> None:
    it = script("press at = 1", "say after = 'silence'")
    it.moment(Moment.SILENCE, 1.0)
    assert begun(it, 2) == [(0, 1.0), (1, 1.0)]


def test_one_moment_does_not_serve_two_neighbours() -> None:
    it = script("say after = 'idle'", "say after = 'idle'")
    it.moment(Moment.IDLE, 1.0)
    assert begun(it, 2) == [(0, 1.0)]
    it.moment(Moment.IDLE, 2.0)
    assert begun(it, 3, since=2) == [(1, 2.0)]


def test_every_step_may_count_from_ready() -> None:
    it = script("say after = 'ready'\ndelay = 1", "say after = 'ready'\ndelay = 2", "say after = 'ready'")
    it.moment(Moment.READY, 0.5)
    assert begun(it, 5) == [(2, 0.5), (0, 1.5), (1, 2.5)]


def test_it_observes_the_conductor() -> None:
    it = script("say after = 'wake'", "say after = 'reply'", "say after = 'silence'", "say after = 'idle'")
    for at, kind in ((1, "wake"), (2, "reply_start"), (3, "silent"), (4, "reply_end")):
        it.report(Report(kind, at, 1))
    it.phase(Phase.LISTENING, 5)
    it.phase(Phase.IDLE, 6)
    assert begun(it, 7) == [(0, 1.0), (1, 2.0), (2, 4.0), (3, 6.0)]


def end_of(script: Script, until: float = 300.0, busy: float = 0.0, since: float = 0.0) -> float | None:
    """When the run ends, if steps and sound go on until `busy`."""
    for begin in range(round(since * RATE), round(until * RATE), BLOCK):
        end = begin + BLOCK
        cues = script.starting(begin, end)
        if script.over(end, speaking=bool(cues) or end <= busy * RATE, sounding=False):
            return end / RATE
    return None


def ready(*steps: str, head: str = "") -> Script:
    it = script(*steps, head=head)
    it.moment(Moment.READY, 0.0)
    return it


def test_the_end_leaves_time_for_a_late_wake_word() -> None:
    assert end_of(ready("say at = 1"), busy=4) == 6.5


def test_the_end_waits_for_idle() -> None:
    it = ready("say at = 1")
    it.phase(Phase.LISTENING, 2)
    assert end_of(it, until=20, busy=4) is None
    it.phase(Phase.IDLE, 20)
    assert end_of(it, since=20) == 21.0
    assert it.failures() == []


def test_the_end_waits_for_a_silent_speaker() -> None:
    it = ready()
    assert not any(it.over(end, speaking=False, sounding=True) for end in range(0, 10 * RATE, BLOCK))
    assert it.over(11 * RATE, speaking=False, sounding=False)


def test_the_duration_is_kept_whatever_happens() -> None:
    assert end_of(ready("say at = 1", head="duration = 30.005"), busy=4) == 30.01
    assert end_of(script("say at = 1", head="duration = 1.5"), busy=400) == 1.5


def test_a_moment_that_never_comes_ends_the_run() -> None:
    it = ready("say at = 1", "press after = 'reply'", "say after = 'idle'")
    assert end_of(it, busy=2) == 17.0
    assert it.failures() == [
        'a.toml:5: this step never began: no "reply" came before the run ended at 17.00 s',
        'a.toml:7: this step never began: no "idle" came before the run ended at 17.00 s',
    ]


def test_a_step_whose_time_is_still_to_come_is_waited_for() -> None:
    it = ready("press after = 'reply'", "say at = 60")
    assert end_of(it) == 75.01
    assert len(it.failures()) == 1


def test_an_end_before_the_time_of_a_step_is_a_failure() -> None:
    it = ready("say after = 'ready'\ndelay = 10", head="duration = 2")
    end_of(it)
    assert it.failures() == ["a.toml:2: this step never began: its time did not come before the run ended at 2.00 s"]


def test_an_appliance_that_never_gets_idle_ends_the_run() -> None:
    it = ready("say at = 1")
    it.phase(Phase.THINKING, 2)
    assert end_of(it, busy=2) == 122.0
    assert it.failures() == ["a.toml: the appliance did not become idle in 120 s of quiet"]


STEPS = st.lists(
    st.sampled_from(
        ["say at = 1", "press at = 3.003", *(f"press after = '{moment}'\ndelay = 0.7" for moment in Moment)]
    ),
    max_size=8,
)
MOMENTS = st.lists(st.tuples(st.integers(0, 500), st.sampled_from(Moment)), max_size=20)


@settings(deadline=None)
@given(STEPS, MOMENTS)
def test_each_step_begins_at_most_once_and_never_before_its_neighbour_was_due(
    steps: list[str], moments: list[tuple[int, Moment]]
) -> None:
    it = script(*steps)
    found: dict[int, float] = {}
    for block in range(600):
        for when, moment in moments:
            if when == block:
                it.moment(moment, block * BLOCK / RATE)
        for cue in it.starting(block * BLOCK, (block + 1) * BLOCK):
            assert cue.index not in found
            assert block * BLOCK <= cue.begin < (block + 1) * BLOCK
            found[cue.index] = cue.begin
    for index, step in enumerate(steps[1:], 1):
        if index in found and "after" in step and "ready" not in step:
            assert found[index] >= found.get(index - 1, 0)
    assert len(it.failures()) == len(steps) - len(found)
