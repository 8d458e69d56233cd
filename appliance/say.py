"""`appliance say`: one text, on the sound card."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from appliance.audio.lane import Lane
from appliance.audio.speaker import CardSpeaker
from appliance.conductor import Inbox
from appliance.config.schema import Settings
from appliance.core.events import ReplyEnded
from appliance.errors import ApplianceError
from appliance.speaking.piper import load_voice
from appliance.speaking.reply import all_at_once, speak


async def say(text: str, settings: Settings, models: Path) -> None:
    """Say `text`, and return when it has been heard. ApplianceError when there is no card, or it gives up."""
    voice = load_voice(models, settings.voice_name)
    loop = asyncio.get_running_loop()
    inbox = Inbox()
    speaker = CardSpeaker(settings.speaker.card)
    lane = Lane(speaker.rate, inbox.post, time.monotonic, inbox.post_progress, drops=speaker.drops)
    worker = ThreadPoolExecutor(1)
    fault: asyncio.Future[None] = loop.create_future()

    def on_fault(reason: str) -> None:
        loop.call_soon_threadsafe(fault.set_exception, ApplianceError(f'speaker "{speaker.name}"', reason))

    async def until_said() -> None:
        lane.begin_turn(1)
        lane.open(1)
        await speak(all_at_once(text), 1, voice, lane, worker, inbox.progress)
        while not isinstance(await inbox.get(), ReplyEnded):
            pass

    speaker.start(lane, lambda _: None, on_fault)
    said = asyncio.create_task(until_said())
    try:
        await asyncio.wait({said, fault}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        said.cancel()
        worker.shutdown(wait=False, cancel_futures=True)
        speaker.stop()
    if fault.done():
        fault.result()
    await said
