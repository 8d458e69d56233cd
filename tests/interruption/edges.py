"""The microphone and the button, in threads of their own: they act first, and then tell the loop."""

from appliance.core.events import Event, Pressed, Released, SpeechEnded, SpeechStarted, SpeechSustained, WakeHeard
from tests.interruption.tape import Tape
from tests.interruption.world import World


class Edge:
    """A thread between what it did and what it tells; it does one thing after the other."""

    def __init__(self, world: World, tape: Tape) -> None:
        self.world = world
        self.untold: Event | None = None
        self._tape = tape

    def tell(self) -> None:
        """Post what is still to be told."""
        if self.untold is not None:
            self.world.inbox.append(self.untold)
            self.untold = None

    def _post(self, event: Event) -> None:
        self.untold = event
        if self._tape.one_in(4):
            self.world.seen["the loop turns before the edge has told"] += 1
        else:
            self.tell()

    def _seen(self, *, hushes: bool) -> int:
        if not hushes:
            return self.world.lane.lane.turn
        turn = self.world.hush()
        assert not self.world.lane.lane.is_open(turn), "a reply plays on after the hush"
        return turn


class Button(Edge):
    """What `appliance.supervisor` does when it is pressed."""

    def press(self) -> None:
        """Down; it was up, or comes up just before."""
        self.let_go()
        self.tell()
        self.world.button_is_down = True
        self._post(Pressed(self.world.clock(), self._seen(hushes=self.world.turn.gates.button)))

    def let_go(self) -> None:
        """Up, if it was down."""
        if self.world.button_is_down:
            self.tell()
            self.world.button_is_down = False
            self._post(Released(self.world.clock()))


class Microphone(Edge):
    """What `appliance.supervisor` does with what the ears sense."""

    def __init__(self, world: World, tape: Tape) -> None:
        super().__init__(world, tape)
        self._since: float | None = None
        self._lasts = False

    def wake(self) -> None:
        """The wake word."""
        self.tell()
        turn = self._seen(hushes=self.world.turn.gates.wake_word)
        self._post(WakeHeard("alexa", 0.9, self.world.clock(), turn))

    def speech(self) -> None:
        """Voice begins, lasts, or ends. Whether it lasts is known before it has begun, if that is set so."""
        self.tell()
        now = self.world.clock()
        if self._since is None:
            self._since = now
            self._lasts = self._tape.one_in(8)
            self._post(SpeechStarted(now)) if not self._lasts else self._sustain(now)
        elif not self._lasts and not self._tape.one_in(3):
            self._lasts = True
            self._sustain(now)
        else:
            self._since, self._lasts = None, False
            self._post(SpeechEnded(now))

    def _sustain(self, now: float) -> None:
        assert self._since is not None
        if self.world.turn.gates.speech:
            self.world.pause()
        self._post(SpeechSustained(self._since, now))
