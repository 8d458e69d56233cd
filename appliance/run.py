"""`appliance run`: the appliance on the sound card, in the foreground."""

import asyncio
import signal
import time
from datetime import datetime
from pathlib import Path

from appliance.audio.cards import PortAudio
from appliance.audio.microphone import CardMicrophone
from appliance.audio.speaker import CardSpeaker
from appliance.config.schema import Settings
from appliance.console import Console
from appliance.panel.button import GpioButton
from appliance.service.control import Controls, ControlServer
from appliance.supervisor import Devices, Supervisor, load_engines


async def run_on_card(settings: Settings, models: Path, directory: Path) -> None:
    """From loading the models until SIGTERM or SIGINT; controlled by way of a socket in `directory`.

    A card that is missing, or gives up, is waited for. BadInputError when there are several cards of one name.
    """
    devices = Devices(
        CardMicrophone(settings.microphone.card),
        CardSpeaker(settings.speaker.card),
        None if settings.button.pin == "none" else GpioButton(settings.button.pin),
        time.monotonic,
        lambda: datetime.now().astimezone(),
        PortAudio.change,
    )
    supervisor = Supervisor(settings, await load_engines(settings, models), devices, [Console(_wall_clock)], directory)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, supervisor.stop)
    words = " or ".join(f'"{word.replace("_", " ")}"' for word in settings.wake.words)
    controls = Controls(lambda: supervisor.press(time.monotonic()), supervisor.model_servers, supervisor.status)
    with ControlServer(directory, controls):
        await supervisor.run(lambda: print(f"Ready. Say {words}, and ask what it can do. Ctrl-C ends it.", flush=True))


def _wall_clock(at: float) -> str:
    moment = datetime.now().astimezone().timestamp() + at - time.monotonic()
    return datetime.fromtimestamp(moment).astimezone().strftime("%H:%M:%S")
