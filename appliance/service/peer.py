"""Who is at the other end of a socket, and whether he may control the appliance."""

import os
import socket
import struct

from appliance.errors import ApplianceError

_PEERGROUPS = 59
"""SO_PEERGROUPS of Linux, for which Python has no name."""

_MOST = 256
"""Groups that are looked at; Python takes no longer answer."""


def require_control(connection: socket.socket, group: int | None) -> None:
    """ApplianceError unless it is root, the user of this process, or a member of `group`."""
    _, user, own_group = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if user in (0, os.geteuid()):
        return
    if group is None or (group != own_group and group not in _groups(connection)):
        raise ApplianceError("you", "may not control this appliance", remedy="Use sudo, or join the appliance's group")


def _groups(connection: socket.socket) -> tuple[int, ...]:
    try:
        groups = connection.getsockopt(socket.SOL_SOCKET, _PEERGROUPS, 4 * _MOST)
    except OSError:  # an old kernel, or more groups than that
        return ()
    return struct.unpack(f"{len(groups) // 4}i", groups)
