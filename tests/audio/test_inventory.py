"""What the kernel tells of sound cards."""

import os
from pathlib import Path

import pytest

from appliance.audio import inventory
from appliance.audio.inventory import Change, Inventory, node_of

BOX = " 0 [Box            ]: USB-Audio - Box\n                      Maker Box at usb-0000:01:00.0-1.2, full speed\n"
HAT = " 1 [Hat            ]: simple-card - Hat\n                      Hat\n"


class Kernel:
    """Files that look like the kernel's."""

    def __init__(self, folder: Path) -> None:
        self.cards = folder / "cards"
        self.nodes = folder / "snd"
        self.nodes.mkdir()

    def has(self, *cards: str) -> Inventory:
        self.cards.write_text("".join(cards) or "--- no soundcards ---\n")
        return Inventory.now()

    def plug(self, node: str) -> None:
        (self.nodes / node).touch()


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    kernel = Kernel(tmp_path)
    monkeypatch.setattr(inventory, "CARDS", kernel.cards)
    monkeypatch.setattr(inventory, "NODES", kernel.nodes)
    return kernel


def test_a_system_without_sound_has_nothing(kernel: Kernel) -> None:
    assert Inventory.now() == Inventory(frozenset(), frozenset())
    assert kernel.has() == Inventory.now()


def test_a_card_that_only_goes_is_nothing_to_look_for(kernel: Kernel) -> None:
    both, one, none = kernel.has(BOX, HAT), kernel.has(HAT), kernel.has()
    assert one.since(both) is none.since(both) is both.since(both) is Change.NOTHING


def test_another_card_or_one_in_another_place_may_be_meant(kernel: Kernel) -> None:
    assert kernel.has(BOX, HAT).since(kernel.has(BOX)) is Change.RENUMBERED
    assert kernel.has(BOX).since(kernel.has(BOX.replace(" 0 [", " 1 ["))) is Change.RENUMBERED


def test_the_same_card_again_is_the_same_card(kernel: Kernel) -> None:
    kernel.plug("pcmC0D0p")
    before = kernel.has(BOX)
    (kernel.nodes / "pcmC0D0p").rename(kernel.nodes.parent / "gone")  # so that the next one gets another number
    assert kernel.has().since(before) is Change.NOTHING
    kernel.plug("pcmC0D0p")
    assert kernel.has(BOX).since(before) is Change.PLUGGED


def test_that_a_card_was_used_is_no_news(kernel: Kernel) -> None:
    kernel.plug("pcmC0D0p")
    before = kernel.has(BOX)
    os.utime(kernel.nodes / "pcmC0D0p", (0, 0))
    assert kernel.has(BOX).since(before) is Change.NOTHING


def test_that_a_card_may_be_used_now_is_news(kernel: Kernel) -> None:
    kernel.plug("pcmC0D0p")
    before = kernel.has(BOX)
    (kernel.nodes / "pcmC0D0p").chmod(0o660)
    assert kernel.has(BOX).since(before) is Change.PLUGGED


def test_a_card_of_the_kernel_has_a_file_as_long_as_it_is_there(kernel: Kernel) -> None:
    name = "Box: USB Audio (hw:1,0)"
    assert node_of(name, "p") is None
    kernel.plug("pcmC1D0p")
    assert node_of(name, "p") == kernel.nodes / "pcmC1D0p"
    assert node_of(name, "c") is None
    assert node_of("default", "p") is None
