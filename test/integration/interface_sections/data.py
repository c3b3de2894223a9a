"""Section 4.3: copies and cloud syncs."""

from .instances import rent, until_running

COPY = "commands/copy_direct/"
SYNC = "commands/rclone/"


def run(service):
    source, _ = rent(service)
    target, _ = rent(service)
    for instance in (source, target):
        until_running(service, instance)
    _copy(service, source, target)
    _sync(service, source)
    for instance in (source, target):
        service.ok("DELETE", f"instances/{instance}/", shape={"success": True})


def _status_line(service, instance):
    return service.ok("GET", f"instances/{instance}/")["instances"]["status_msg"]


def _copy(service, source, target):
    paths = {"src_path": "/workspace/data/", "dst_path": "/workspace/data/"}
    body = {**paths, "src_id": str(source), "dst_id": str(target)}
    shape = {"success": True, "msg": str}
    before = _status_line(service, target)
    service.ok("PUT", COPY, body, shape)
    service.wait(45)
    assert _status_line(service, target) != before, before
    service.ok("DELETE", COPY, {"dst_id": str(target)}, {"success": True})
    service.ok("PUT", COPY, {**paths, "dst_id": str(target)}, shape)
    service.refused("PUT", COPY, {"src_path": "/a"}, 400, "invalid_args")
    service.refused("PUT", COPY, {**body, "src_id": "1"}, 404, "no_such_user")
    service.refused("DELETE", COPY, {}, 400, "invalid_args")
    service.refused("DELETE", COPY, {"dst_id": "1"}, 404, "no_such_user")
    assert 429 in {service.send("PUT", COPY, {}, patient=False).status for _ in range(8)}
    assert 429 in {service.send("DELETE", COPY, {}, patient=False).status for _ in range(8)}


def _sync(service, instance):
    body = {
        "instance_id": str(instance),
        "src": "/workspace/data",
        "dst": "/bucket/data",
        "selected": "7",
        "transfer": "Instance To Cloud",
        "flags": ["--checksum"],
        "api_key": "of no account",
    }
    service.ok("POST", SYNC, body, {"success": True, "msg": str, "result_url": str})
    service.ok("DELETE", SYNC, {"dst_id": instance}, {"success": True, "msg": str})
    service.ok("POST", SYNC, {**body, "transfer": "Cloud To Instance"}, {"success": True})
    service.ok("DELETE", SYNC, {"dst_id": instance}, {"success": True, "msg": str})
    service.refused("POST", SYNC, {**body, "transfer": 5}, 400)
    service.refused("POST", SYNC, {}, 400)
    service.refused("DELETE", SYNC, {}, 400, "invalid_args")
    service.refused("DELETE", SYNC, {"dst_id": 1}, 404, "no_such_instance")
