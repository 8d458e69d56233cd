"""How loud the room is, and who is told from it by that."""

from math import inf

from appliance.core.roomlevel import ENOUGH, MEMORY, SYLLABLE, WORD, Foreground, Room

WINDOW = 0.032
QUIET, LOUD = 0.01, 0.1


def hear(room: Room, level: float, count: int, since: float, *, is_voice: bool = True, is_ours: bool = False) -> float:
    """Some windows; the end of the last one."""
    for number in range(1, count + 1):
        room.hear(level, since + number * WINDOW, is_voice=is_voice, is_ours=is_ours)
    return since + count * WINDOW


def is_about(power: float, level: float) -> bool:
    return abs(power - level**2) < 0.1 * level**2


def test_a_room_is_as_loud_as_its_voices() -> None:
    room = Room()
    end = hear(room, QUIET, 2 * ENOUGH, 10.0)
    end = hear(room, LOUD, 2 * ENOUGH, end, is_voice=False)
    end = hear(room, QUIET, SYLLABLE, end, is_voice=False)
    end = hear(room, QUIET, 2 * ENOUGH, end)
    assert is_about(room.power(end + WORD), QUIET)


def test_of_a_room_without_voices_nothing_is_known() -> None:
    room = Room()
    assert room.power(0.0) == inf
    end = hear(room, QUIET, 10 * ENOUGH, 10.0, is_voice=False)
    end = hear(room, QUIET, ENOUGH - 1, end)
    assert room.power(end + WORD) == inf


def test_what_is_ours_and_the_wake_word_are_not_the_rooms() -> None:
    room = Room()
    end = hear(room, QUIET, 2 * ENOUGH, 10.0)
    end = hear(room, LOUD, 10 * ENOUGH, end, is_ours=True)
    end = hear(room, QUIET, SYLLABLE, end, is_ours=True)
    hear(room, LOUD, round(WORD / WINDOW), end)
    assert is_about(room.power(end + WORD), QUIET)
    assert is_about(room.power(end + 10), QUIET), "the wake word is forgotten"


def test_a_room_is_another_one_after_a_while() -> None:
    room = Room()
    end = hear(room, QUIET, 2 * ENOUGH, 10.0)
    end = hear(room, QUIET, 1, end + MEMORY)
    assert room.power(end + WORD) == inf


def test_who_stands_out_is_told_from_the_room() -> None:
    foreground = Foreground(QUIET**2)
    assert not any(foreground.is_room(QUIET) for _ in range(100)), "nobody has spoken yet"
    assert not any(foreground.is_room(LOUD) for _ in range(100))
    assert [foreground.is_room(QUIET) for _ in range(2 * SYLLABLE)] == [False] * (SYLLABLE - 1) + [True] * (
        SYLLABLE + 1
    )


def test_who_does_not_stand_out_is_no_room() -> None:
    for room in (QUIET**2, inf):
        foreground = Foreground(room)
        assert not any(foreground.is_room(2 * QUIET) or foreground.is_room(QUIET) for _ in range(100))
