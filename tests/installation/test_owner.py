"""What a restricted account may do."""

import pytest

from appliance.errors import BadInputError
from appliance.installation.owner import command_line


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("appliance status", ["status"]),
        ("appliance say 'Dinner is ready'", ["say", "Dinner is ready"]),
        ("appliance config set wake.threshold 0.6", ["config", "set", "wake.threshold", "0.6"]),
        ("appliance say $(id) ; id", ["say", "$(id)", ";", "id"]),
    ],
)
def test_an_allowed_command_is_split_and_its_words_stay_words(asked: str, words: list[str]) -> None:
    assert command_line(asked) == words


@pytest.mark.parametrize(
    "asked",
    [
        *("", "   ", "appliance", "bash", "/bin/appliance status", "appliance run", "appliance models fetch"),
        *(
            "appliance config edit",
            "appliance --verbose config edit",
            "appliance --help",
            "scp -t /etc",
            "internal-sftp",
        ),
        *("appliance bench", "appliance simulate a.toml --out /tmp", "appliance say 'half", "internal-sftp"),
    ],
)
def test_all_else_is_refused_with_what_is_allowed(asked: str) -> None:
    with pytest.raises(BadInputError, match=r"Allowed: appliance config\|doctor\|"):
        command_line(asked)
