import io

from appliance.console import Console
from appliance.core.effects import Report


def test_a_conversation_reads_like_one() -> None:
    out = io.StringIO()
    console = Console(lambda at: f"{at:.1f}", out)
    for report in [
        Report("wake", 1.0, 1, {"by": "word", "word": "alexa", "score": 0.9}),
        Report("speech_end", 2.0, 1, {}),
        Report("heard", 2.5, 1, {"text": "help"}),
        Report("intent", 2.5, 1, {"intent": "help"}),
        Report("reply_text", 2.5, 1, {"text": "Ask me the time."}),
        Report("interrupted", 4.0, 1, {"by": "button"}),
        Report("wake", 4.0, 2, {"by": "button", "word": None}),
        Report("notice", 10.0, 2, {"text": "nobody spoke"}),
        Report("reply_text", 11.0, 3, {"text": ""}),
    ]:
        console.report(report)
    assert out.getvalue().splitlines() == [
        "1.0  (wake word: alexa)",
        "2.5  you:     help",
        "2.5  speaker: Ask me the time.",
        "4.0  (interrupted)",
        "4.0  (button)",
        "10.0  (nobody spoke)",
    ]
