"""`appliance wake test`: scores as they come, of the running appliance, or of the microphone if there is none."""

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from appliance.service.client import NotRunningError, asked
from appliance.service.request import Watch
from appliance.watch import Screen, View

if TYPE_CHECKING:
    from appliance.config.schema import Settings

_SHOWN = ("level", "wake", "notice", "lost")
"""What is of interest here, of all that an appliance tells."""


def test(directory: Path, understood: "Callable[[], tuple[Settings, Path]]", *, json: bool) -> int:
    """Until Ctrl-C, or until the appliance ends."""
    screen = Screen(sys.stdout)
    show: Callable[[bytes], None] = screen.raw if json else View(screen).show
    try:
        try:
            with asked(directory, Watch()) as (_, lines):
                for line in lines:
                    _show(line, show)
        except NotRunningError:
            settings, models = understood()
            screen.notice("no appliance is running here: this is the microphone itself")
            asyncio.run(_listen(settings, models, show))
    except KeyboardInterrupt:
        pass
    finally:
        screen.close()
    return 0


def _show(line: bytes, show: Callable[[bytes], None]) -> None:
    try:
        kind = msgspec.json.decode(line, type=dict[str, object]).get("kind")
    except msgspec.DecodeError:
        return
    if kind in _SHOWN:
        show(line)


async def _listen(settings: "Settings", models: Path, show: Callable[[bytes], None]) -> None:
    from appliance.audio.devices import Frame
    from appliance.audio.microphone import CardMicrophone
    from appliance.core.effects import Report
    from appliance.errors import ApplianceError
    from appliance.hearing.wake import Detection, WakeWords
    from appliance.service.watching import Watchers

    loop = asyncio.get_running_loop()
    watchers, words = Watchers(), WakeWords(models, settings.wake.scores, settings.wake.refractory)
    faults: asyncio.Queue[str] = asyncio.Queue()

    def tell(found: Detection) -> None:
        if found.clear:
            data = {"by": "word", "word": found.word, "score": found.score}
            watchers.report(Report("wake", time.monotonic(), 0, data))
        else:
            text = f"{found.word} scored {found.score:.2f}: the appliance would have speech-to-text look for it"
            watchers.report(Report("notice", time.monotonic(), 0, {"text": text}))

    def hear(frame: Frame) -> None:
        for found in words.feed(frame.samples):
            loop.call_soon_threadsafe(tell, found)
        watchers.hear(frame.samples, words.scores)

    def fail(why: str) -> None:
        loop.call_soon_threadsafe(faults.put_nowait, why)

    microphone = CardMicrophone(settings.microphone.card)
    with watchers.joined() as lines:
        microphone.start(hear, fail)
        fault = asyncio.create_task(faults.get())
        try:
            while True:
                taking = asyncio.create_task(lines.take())
                waited: set[asyncio.Task[Any]] = {taking, fault}
                await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
                if fault.done():
                    taking.cancel()
                    raise ApplianceError("microphone", fault.result(), remedy="Plug it in again")
                for line in taking.result().splitlines(keepends=True):
                    _show(line, show)
        finally:
            fault.cancel()
            await asyncio.to_thread(microphone.stop)
