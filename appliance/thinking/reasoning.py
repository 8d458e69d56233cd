"""What a model says to itself before it answers, between <think> and </think>, is not for the user's ears."""

import re

_TAG = re.compile("</?think>")
_BEGUN = re.compile(r"<(/?(t(h(i(nk?)?)?)?)?)?\Z")
"""At the end: what the next piece may make a tag of."""


class ReasoningFilter:
    """Takes it out of a text that comes in pieces, wherever they are cut. What is never closed is all reasoning."""

    def __init__(self) -> None:
        self.reasoned = False
        """Whether there was any of it."""
        self._held = ""
        self._thinking = False

    def feed(self, text: str) -> str:
        """What of `text`, and of what was held back, is part of the answer."""
        text = self._held + text
        said = []
        while tag := _TAG.search(text):
            if not self._thinking:
                said.append(text[: tag.start()])
            # A tag that only closes is dropped: some templates begin the reasoning in the prompt, unseen.
            self._thinking = tag[0] == "<think>"
            self.reasoned = True
            text = text[tag.end() :]
        begun = _BEGUN.search(text)
        self._held = begun[0] if begun else ""
        if not self._thinking:
            said.append(text[: len(text) - len(self._held)])
        return "".join(said)

    def finish(self) -> str:
        """What was held back, if no tag came of it."""
        held, self._held = self._held, ""
        return "" if self._thinking else held
