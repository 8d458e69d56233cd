"""What the appliance holds in memory."""

from pathlib import Path

from appliance.bench.figures import Figure, Result
from appliance.bench.start import probe
from appliance.config.schema import Settings

QUESTION = """
[[say]]
text = "Alexa, what time is it?"
after = "ready"
delay = 0.2
[[expect]]
intent = "time"
"""


def measure(settings: Settings, models: Path) -> Result:
    """Resident memory of a process of its own that has loaded all models and answered one question."""
    _, memory = probe(settings, models, QUESTION)
    return Result(
        "memory",
        "resident memory of a new process that has loaded all models of the configuration and answered one question, "
        "when it is idle again, by the kernel's count (VmRSS; VmHWM is the highest it ever was)",
        (
            Figure("resident", memory["VmRSS"] / 1e6, "MB", 450),
            Figure("highest", memory["VmHWM"] / 1e6, "MB"),
        ),
    )
