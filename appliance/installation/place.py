"""Where an installed appliance lies."""

from dataclasses import dataclass
from pathlib import Path

USER = "appliance"
"""The user that it runs as, and its group."""

SERVICE = "appliance.service"
SETTLE = "appliance-settle.service"


@dataclass(frozen=True, slots=True)
class Place:
    """The paths below `root`, which is / except in tests."""

    root: Path = Path("/")

    @property
    def home(self) -> Path:
        """The program: its versions, and the links that say what each is."""
        return self.root / "opt/appliance"

    @property
    def versions(self) -> Path:
        """A folder for each version."""
        return self.home / "versions"

    @property
    def current(self) -> Path:
        """Leads to the version that runs."""
        return self.home / "current"

    @property
    def fallback(self) -> Path:
        """Leads to the version before, while the current one has not yet shown that it becomes ready."""
        return self.home / "fallback"

    @property
    def previous(self) -> Path:
        """Leads to the version before, once the current one has been ready."""
        return self.home / "previous"

    @property
    def data(self) -> Path:
        """Models, and what the appliance remembers."""
        return self.root / "var/lib/appliance"

    @property
    def models(self) -> Path:
        """Leads to the models of the current version."""
        return self.data / "models"

    @property
    def weights(self) -> Path:
        """A folder for each version, with its models."""
        return self.data / "weights"

    @property
    def last_end(self) -> Path:
        """How the appliance has ended, as it noted itself."""
        return self.data / "last-end.json"

    @property
    def configuration(self) -> Path:
        """The owner's settings."""
        return self.root / "etc/appliance"

    @property
    def cache(self) -> Path:
        """Packages that were fetched for an environment."""
        return self.root / "var/cache/appliance"

    @property
    def command(self) -> Path:
        """The command for everybody."""
        return self.root / "usr/local/bin/appliance"

    def links(self) -> dict[Path, Path]:
        """The files that the system reads, and those of the current version that they lead to."""
        systemd = self.current / "systemd"
        etc = self.root / "etc"
        return {
            self.command: systemd / "appliance",
            etc / "systemd/system" / SERVICE: systemd / SERVICE,
            etc / "sysusers.d/appliance.conf": systemd / "sysusers.conf",
            etc / "tmpfiles.d/appliance.conf": systemd / "tmpfiles.conf",
            etc / "udev/rules.d/60-appliance.rules": systemd / "gpio.rules",
        }

    @property
    def settle(self) -> Path:
        """The unit that goes back: no link, for it must be there even if the current version is not."""
        return self.root / "etc/systemd/system" / SETTLE

    @property
    def overrides(self) -> Path:
        """What changes the unit: a file of ours, and those of the owner."""
        return self.root / "etc/systemd/system" / f"{SERVICE}.d"

    def restart_steps(self) -> dict[Path, Path]:
        """The same, where systemd is 254 or later."""
        return {self.overrides / "restart-steps.conf": self.current / "systemd/restart-steps.conf"}
