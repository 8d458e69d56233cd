"""Says which interfaces there are, at first and after each change. Run at a host of a test's network."""

import asyncio
import json
import resource
import sys

from appliance.thinking.discovery.interfaces import changing_interfaces


async def main() -> None:
    """Until it is ended."""
    async for interfaces in changing_interfaces():
        found = {each.name: [each.index, *sorted(map(str, each.addresses))] for each in interfaces}
        wakes = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
        sys.stdout.write(json.dumps({"interfaces": found, "wakes": wakes}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
