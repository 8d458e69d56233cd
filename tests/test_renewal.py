"""One appliance after the other: what is tried, confirmed and taken back, on a clock that does not wait."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import pytest

from appliance.config.generations import Start, Trial
from appliance.config.schema import Service, Settings
from appliance.errors import ApplianceError, BadInputError
from appliance.renewal import STARTING, Renewal
from appliance.simulation.clock import VirtualLoop

WINDOW = 10.0


def named(language: str) -> Settings:
    return Settings(language=language, service=Service(confirm=WINDOW))


GOOD, NEXT = named("en"), named("de")


class Appliance:
    """With one configuration; does what the test says."""

    def __init__(self, settings: Settings, ready_after: float | None, dies_after: float | None) -> None:
        self.settings = settings
        self.lacks: frozenset[str] = frozenset()
        self.idle = asyncio.Event()
        self.idle.set()
        self.hushed = False
        self.running = False
        self._over = asyncio.Event()
        self._ready_after = ready_after
        self._dies_after = dies_after

    async def run(self, on_ready: Callable[[], None]) -> None:
        self.running = True
        try:
            async with asyncio.timeout(None) as limit:
                if self._dies_after is not None:
                    limit.reschedule(asyncio.get_running_loop().time() + self._dies_after)
                if self._ready_after is not None:
                    await asyncio.sleep(self._ready_after)
                    if not self._over.is_set():
                        on_ready()
                await self._over.wait()
        except TimeoutError as error:
            raise ApplianceError("appliance", "it died") from error
        finally:
            self.running = False

    async def at_rest(self) -> None:
        await self.idle.wait()

    def end(self) -> None:
        self._over.set()

    def stop(self) -> None:
        self.hushed = True
        self._over.set()


class Scene:
    """A store, and what becomes of what is in it."""

    def __init__(self) -> None:
        self.wanted: Settings | ApplianceError = NEXT
        self.ready_after: dict[str, float | None] = {}
        self.dies_after: dict[str, float | None] = {}
        self.lacking: dict[str, set[str]] = {}
        self.unloadable: set[str] = set()
        self.built: list[Appliance] = []
        self.noted: list[str] = []
        self.was_ready = 0
        self.renewal: Renewal[str] = Renewal(self, self.load, self.build)
        self.loop = asyncio.get_running_loop()

    def begin_trial(self) -> Trial:
        if isinstance(self.wanted, ApplianceError):
            raise self.wanted
        return Trial(self.wanted, 2, self.wanted != GOOD, ("language",))

    def confirm(self, generation: int) -> tuple[str, ...]:
        self.noted.append(f"confirmed {generation}")
        return ("Noted.",)

    def reject(self, generation: int, why: str) -> Start:
        self.noted.append(f"rejected {generation}: {why}")
        return Start(GOOD, 1, notes=("The file is back.",))

    def postpone(self, generation: int) -> None:
        self.noted.append(f"postponed {generation}")

    async def load(self, settings: Settings, before: tuple[Settings, str] | None) -> str:
        if settings.language in self.unloadable:
            raise ApplianceError("models", "there are none")
        return settings.language

    def build(self, settings: Settings, models: str) -> Appliance:
        assert models == settings.language
        assert not any(each.running for each in self.built), "two at once"
        new = Appliance(settings, self.ready_after.get(models, 0.1), self.dies_after.get(models))
        new.lacks = frozenset(self.lacking.get(models, ()))
        self.built.append(new)
        return new

    def ready(self) -> None:
        self.was_ready += 1

    def run(self, start: Start | None = None) -> "asyncio.Task[None]":
        return asyncio.create_task(self.renewal.run(start or Start(GOOD, 1), self.ready))

    @property
    def languages(self) -> list[str]:
        """Of those that ran, in turn."""
        return [each.settings.language for each in self.built]


async def until_ready(scene: Scene) -> None:
    while not scene.was_ready:  # noqa: ASYNC110  on a clock that does not wait
        await asyncio.sleep(0.1)


def play(course: Callable[[Scene], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        await course(Scene())

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())


def test_a_change_is_confirmed_after_its_window() -> None:
    async def course(scene: Scene) -> None:
        running = scene.run()
        await until_ready(scene)
        began = scene.loop.time()
        applied = await scene.renewal.apply()
        assert scene.loop.time() - began == pytest.approx(WINDOW, abs=0.5)
        assert (applied.generation, applied.changed, applied.taken_back, applied.notes) == (
            2,
            ("language",),
            "",
            ("Noted.",),
        )
        assert (scene.languages, scene.noted) == (["en", "de"], ["confirmed 2"])
        assert msgspec.structs.astuple(scene.renewal.configuration) == (2, False, "")
        scene.renewal.stop()
        await running
        assert scene.was_ready == 1

    play(course)


def test_no_turn_is_cut() -> None:
    async def course(scene: Scene) -> None:
        running = scene.run()
        await until_ready(scene)
        scene.built[0].idle.clear()
        applying = asyncio.create_task(scene.renewal.apply())
        await asyncio.sleep(300)
        assert scene.built[0].running
        assert msgspec.structs.astuple(scene.renewal.configuration) == (2, True, "")
        scene.built[0].idle.set()
        await applying
        assert not scene.built[0].hushed
        scene.renewal.stop()
        await running
        assert scene.built[1].hushed

    play(course)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("dies", "appliance: it died"),
        ("never ready", f"appliance: it has not become ready within {STARTING:g} s"),
        ("no models", "models: there are none"),
        ("no card", "the microphone did not work with it"),
    ],
)
@pytest.mark.parametrize("at_start", [None, (), ("microphone.card",)])
def test_what_does_not_work_is_taken_back(fault: str, why: str, at_start: tuple[str, ...] | None) -> None:
    async def course(scene: Scene) -> None:
        match fault:
            case "dies":
                scene.dies_after["de"] = WINDOW - 1
            case "never ready":
                scene.ready_after["de"] = None
            case "no models":
                scene.unloadable.add("de")
            case _:
                scene.lacking["de"] = {"microphone"}
        running = scene.run(Start(NEXT, 2, True, at_start) if at_start is not None else None)
        await until_ready(scene)
        if at_start is not None:
            await asyncio.sleep(WINDOW + 1)
            if fault == "no card" and not at_start:  # which may be unplugged
                assert scene.noted == ["confirmed 2"]
                scene.renewal.stop()
                await running
                return
        else:
            applied = await scene.renewal.apply()
            assert applied.generation == 1
            assert applied.taken_back.startswith(why)
            assert "The file is back." in applied.notes
        (noted,) = scene.noted
        assert noted.startswith(f"rejected 2: {why}")
        assert scene.languages[-1] == "en"
        assert scene.built[-1].running
        assert scene.renewal.configuration.taken_back.startswith(f"generation 2: {why}")
        assert not running.done()
        scene.renewal.stop()
        await running

    play(course)


def test_a_card_that_was_missing_before_is_not_missed() -> None:
    async def course(scene: Scene) -> None:
        scene.lacking = {"en": {"microphone"}, "de": {"microphone"}}
        running = scene.run()
        await until_ready(scene)
        assert (await scene.renewal.apply()).taken_back == ""
        scene.renewal.stop()
        await running

    play(course)


def test_what_means_the_same_or_is_bad_changes_nothing() -> None:
    async def course(scene: Scene) -> None:
        running = scene.run()
        await until_ready(scene)
        scene.wanted = GOOD
        assert (await scene.renewal.apply()).generation == 2
        scene.wanted = BadInputError("appliance.toml:3", "is wrong")
        with pytest.raises(BadInputError):
            await scene.renewal.apply()
        assert (len(scene.built), scene.noted) == (1, [])
        scene.renewal.stop()
        await running
        with pytest.raises(ApplianceError, match="ending"):
            await scene.renewal.apply()

    play(course)


def test_one_change_after_the_other() -> None:
    async def course(scene: Scene) -> None:
        running = scene.run()
        await until_ready(scene)
        results = await asyncio.gather(*(scene.renewal.apply() for _ in range(3)))
        assert [each.taken_back for each in results] == ["", "", ""]
        assert scene.noted == ["confirmed 2"] * 3
        scene.renewal.stop()
        await running

    play(course)


@pytest.mark.parametrize("after", [0.0, 0.05, 1.0])
def test_who_stops_it_in_a_trial_is_not_kept_waiting(after: float) -> None:
    async def course(scene: Scene) -> None:
        running = scene.run()
        await until_ready(scene)
        began = scene.loop.time()
        applying = asyncio.create_task(scene.renewal.apply())
        await asyncio.sleep(after)
        scene.renewal.stop()
        await running
        await asyncio.wait({applying})
        assert scene.loop.time() - began < 1.5
        assert not any(each.running for each in scene.built)
        assert scene.noted == ["postponed 2"], "it may work, or not"
        assert applying.result().postponed
        assert applying.result().taken_back == ""

    play(course)


@pytest.mark.parametrize("after", [0.05, 1.0])
def test_who_stops_it_in_a_trial_at_its_start_finds_it_there_again(after: float) -> None:
    async def course(scene: Scene) -> None:
        running = scene.run(Start(NEXT, 2, on_trial=True))
        await asyncio.sleep(after)
        scene.renewal.stop()
        await running
        assert scene.noted == ["postponed 2"]

    play(course)


def test_what_was_taken_back_is_told_until_something_else_is_confirmed() -> None:
    async def course(scene: Scene) -> None:
        scene.unloadable.add("de")
        running = scene.run(Start(GOOD, 1, notes=("The file was damaged.",)))
        await until_ready(scene)
        assert scene.renewal.notes == ("The file was damaged.",)
        await scene.renewal.apply()
        assert scene.renewal.configuration.taken_back
        scene.unloadable.clear()
        await scene.renewal.apply()
        assert not scene.renewal.configuration.taken_back
        assert scene.renewal.notes == ("Noted.",)
        scene.renewal.stop()
        await running

    play(course)


def test_without_a_change_what_breaks_ends_it() -> None:
    async def course(scene: Scene) -> None:
        scene.dies_after["en"] = 5.0
        with pytest.raises(ApplianceError, match="died"):
            await scene.run()
        scene.unloadable.add("en")
        with pytest.raises(ApplianceError, match="there are none"):
            await scene.run()

    play(course)


def test_stopped_before_it_has_begun_it_never_runs() -> None:
    async def course(scene: Scene) -> None:
        scene.renewal.stop()
        await scene.run()
        assert scene.built == []
        assert scene.was_ready == 0

    play(course)
