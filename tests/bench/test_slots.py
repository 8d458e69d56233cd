"""What counts as understood."""

import pytest

from appliance.bench.slots import right, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I'd like an eight ounce latte, please.", 2),
        ("I'd like an 8-ounce Latte", 2),
        ("An 8 oz latte", 2),
        ("eight ounces of latte", 2),
        ("a latte in eight", 1),
        ("an eighteen ounce platter", 0),
        ("", 0),
    ],
)
def test_slots_are_counted_word_for_word(text: str, found: int) -> None:
    assert right(text, {"size": "eight ounce", "coffeeDrink": " latte"}) == found


def test_numbers_are_words() -> None:
    assert words("12, 16 or 20?") == "twelve sixteen or twenty"
