"""Power cuts: the appliance starts again, with the old or the new of all that was on its way.

Most of them are in a container, since a virtual machine takes minutes to boot where it is emulated. With
SYSTEM_TESTS=all in the environment there are many more, and a virtual machine too; `tests/system/run` sets that.
"""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.system.power.board import Board, ContainerBoard, MachineBoard
from tests.system.power.cuts import CHANGE, CHANGE_NOT_RUNNING, FIRST_START, NEW_VERSION, SWITCH, cuts
from tests.system.power.image import Image, image, missing

ALL = os.environ.get("SYSTEM_TESTS") == "all"
SEED = int(os.environ.get("POWER_CUTS_SEED", "1"))
"""The first seed; each cut has the next one."""

pytestmark = pytest.mark.timeout(3 * 3600)

FEW = (FIRST_START, CHANGE_NOT_RUNNING, CHANGE)
MANY = (FIRST_START, CHANGE, CHANGE_NOT_RUNNING, NEW_VERSION, SWITCH, CHANGE_NOT_RUNNING, CHANGE, SWITCH) * 7
IN_A_MACHINE = (FIRST_START, CHANGE_NOT_RUNNING, CHANGE, SWITCH) * 2


@pytest.fixture(scope="module")
def installed(models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Image:
    """An image with the appliance; the first time it takes some minutes."""
    if lacking := missing():
        pytest.skip(f"power cuts: {lacking}")
    return image(tmp_path_factory.mktemp("image"), models_dir / "models")


def test_it_starts_again_after_each_power_cut(installed: Image, tmp_path: Path) -> None:
    many(ContainerBoard, installed, tmp_path, MANY if ALL else FEW)
    if not ALL:
        sys.stdout.write(f"Left out: {len(MANY) - len(FEW)} more, also of upgrades. All: tests/system/run --all\n")


@pytest.mark.skipif(not ALL, reason="power cuts of a virtual machine take half an hour: tests/system/run --all")
def test_a_machine_with_a_kernel_of_its_own_starts_again_after_each_power_cut(installed: Image, tmp_path: Path) -> None:
    many(MachineBoard, installed, tmp_path, IN_A_MACHINE)


def many(kind_of_board: type[Board], installed: Image, folder: Path, kinds: Sequence[str]) -> None:
    """Show each cut as soon as it is over; none may have done harm."""
    wrong = []
    for cut in cuts(kind_of_board, installed, folder, [(kind, SEED + index) for index, kind in enumerate(kinds)]):
        sys.stdout.write(f"{json.dumps(asdict(cut))}\n")
        sys.stdout.flush()
        if cut.wrong:
            wrong.append(cut)
    assert not wrong
