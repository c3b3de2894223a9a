"""Section 4.2: offers and instances."""

import base64
import os
import struct

SHOWN = {"actual_status": (None, str), "ssh_host": str, "ssh_port": int}


def run(service):
    _search(service)
    _life(service)
    _instance_key(service)
    _bids(service)


def rent(service, body=None, search=None):
    """Rents the cheapest offer; gives the instance's id and key."""
    filters = {"rentable": {"eq": True}, "order": [["dph_total", "asc"]], "limit": 1, **(search or {})}
    (offer,) = service.ok("POST", "bundles/", filters, {"offers": [{"id": int}]})["offers"]
    shape = {"success": True, "new_contract": int, "instance_api_key": str}
    answer = service.ok("PUT", f"asks/{offer['id']}/", {"image": "ubuntu:22.04", "disk": 10, **(body or {})}, shape)
    return answer["new_contract"], answer["instance_api_key"]


def until_running(service, instance):
    """Polls as section 3.1 says, and gives the statuses that were seen."""
    seen = []
    for _ in range(60):
        shown = service.ok("GET", f"instances/{instance}/", shape={"instances": SHOWN})["instances"]
        if not seen or seen[-1] != shown["actual_status"]:
            seen.append(shown["actual_status"])
        if seen[-1] == "running":
            return seen
        service.wait(10)
    raise AssertionError(f"Instance {instance} never ran: {seen}")


def _search(service):
    body = {
        "verified": {"eq": True},
        "rentable": {"eq": True},
        "gpu_name": {"eq": "RTX 4090"},
        "num_gpus": {"eq": 1},
        "direct_port_count": {"gte": 1},
        "order": [["dlperf_per_dphtotal", "desc"]],
        "type": "on-demand",
        "limit": 5,
    }
    offers = service.ok("POST", "bundles/", body, {"offers": [{"id": int}]})["offers"]
    assert 0 < len(offers) <= 5, offers
    for wrong in ({"limit": "5"}, {"order": "x"}, {"num_gpus": 1}, {"type": 3}):
        service.refused("POST", "bundles/", wrong, 400, "invalid_args")


def _life(service):
    empty = service.ok("GET", "instances/", shape={"instances_found": int, "instances": [dict]})
    assert empty["instances_found"] == 0 and empty["instances"] == [], empty
    volume = {"create_new": True, "volume_id": 1, "size": 5, "mount_path": "/data"}
    body = {"env": {"A": "1", "-p 8080:8080": "1"}, "runtype": "ssh", "volume_info": volume, "onstart": "echo hi"}
    instance, _ = rent(service, body)
    assert until_running(service, instance) == [None, "loading", "running"]
    listed = service.ok("GET", "instances/", shape={"instances_found": int, "instances": [SHOWN]})
    assert listed["instances_found"] == 1 and listed["instances"][0]["id"] == instance, listed
    shape = {"success": True, "msg": str}
    service.ok("POST", f"instances/{instance}/ssh/", {"ssh_key": _public_key()}, shape)
    assert service.send("POST", f"instances/{instance}/ssh/", {"ssh_key": "nonsense"}).status == 400
    assert service.send("POST", "instances/1/ssh/", {"ssh_key": _public_key()}).status == 404
    service.ok("PUT", f"instances/{instance}/", {"state": "stopped"}, {"success": True})
    assert service.send("PUT", f"instances/{instance}/", {"state": 5}).status == 400
    service.ok("DELETE", f"instances/{instance}/", shape={"success": True})
    assert service.send("GET", f"instances/{instance}/").status == 404


def _instance_key(service):
    """Section 5.6: it stops and destroys its own instance, and does nothing else."""
    instance, key = rent(service)
    other, _ = rent(service)
    service.forbidden("GET", "users/current/", None, key)
    service.forbidden("GET", f"instances/{instance}/", None, key)
    service.forbidden("DELETE", f"instances/{other}/", None, key)
    service.ok("PUT", f"instances/{instance}/", {"state": "stopped"}, {"success": True}, key=key)
    service.ok("DELETE", f"instances/{instance}/", shape={"success": True}, key=key)
    service.ok("DELETE", f"instances/{other}/", shape={"success": True})


def _bids(service):
    instance, _ = rent(service, {"price": 5}, {"type": "bid"})
    path = f"instances/bid_price/{instance}/"
    for price in (0.001, 32.0, 1.25):
        service.ok("PUT", path, {"client_id": "me", "price": price}, {"success": True})
    for wrong in ({"client_id": "me", "price": 0.0001}, {"client_id": "me", "price": 32.5}, {"price": 1}, {}):
        service.refused("PUT", path, wrong, 400, "invalid_args")
    service.refused("PUT", "instances/bid_price/1/", {"client_id": "me", "price": 1}, 404, "no_such_instance")
    service.ok("DELETE", f"instances/{instance}/", shape={"success": True})
    wanted = {"client_id": "me", "price": 1}
    statuses = {service.send("PUT", "instances/bid_price/1/", wanted, patient=False).status for _ in range(12)}
    assert 429 in statuses and statuses <= {404, 429}, statuses


def _public_key():
    parts = (b"ssh-ed25519", os.urandom(32))
    blob = b"".join(struct.pack(">I", len(part)) + part for part in parts)
    return f"ssh-ed25519 {base64.b64encode(blob).decode()} a test"
