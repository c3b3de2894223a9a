"""Drives a service through the whole interface, with Python's standard library and no code of Berth's.

Reads one JSON line {"base_url", "api_key", "user_id"} from standard input, as `npm run simulator` prints it, and ends
with status 0 and a line of JSON that counts what was done; a broken promise ends it with status 1 and says which.
Messages sent and world time come from the simulator's control plane. What the interface does not show but needs (how to
make a webhook, whose machines are whose, an interruptible instance) is done as deployments are known to do it.
"""

import json
import sys

from interface_sections import account, data, hosting, instances, notifications, templates, two_factor, two_factor_states
from interface_sections.operations import OPERATIONS
from interface_sections.service import Service


def main():
    start = json.loads(sys.stdin.readline())
    service = Service(start["base_url"], start["api_key"], start["user_id"])
    parts = (account, notifications, templates, instances, data, hosting, two_factor, two_factor_states)
    for part in parts:
        part.run(service)
    missed = sorted(" ".join(operation) for operation in OPERATIONS if operation not in service.succeeded)
    assert not missed, f"Never answered with 200: {missed}"
    print(json.dumps({"operations": len(OPERATIONS), "requests": service.requests, "codes": sorted(service.codes)}))


if __name__ == "__main__":
    main()
