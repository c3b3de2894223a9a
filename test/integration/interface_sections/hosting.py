"""Section 4.4: machines and network disks."""


def run(service):
    (own, other, *_) = [machine["id"] for machine in service.send("GET", "machines/").body["machines"]]
    stranger = service.ok("POST", "bundles/", {"limit": 1})["offers"][0]["machine_id"]
    _disks(service, own, other, stranger)
    _maintenance(service, own, stranger)
    _clean_up(service, own, stranger)


def _disks(service, own, other, stranger):
    shape = {"success": True, "disk_id": int}
    made = service.ok("POST", "network_disk/", {"mount_point": "/mnt/data", "machine_id": own}, shape)
    more = {"mount_point": "/mnt/data", "machine_ids": [other], "disk_id": made["disk_id"]}
    assert service.ok("POST", "network_disk/", more, shape)["disk_id"] == made["disk_id"]
    service.refused("POST", "network_disk/", {"machine_id": own}, 400, "invalid_args")
    service.refused("POST", "network_disk/", {"mount_point": "/mnt/data", "machine_id": "x"}, 400, "invalid_args")
    service.refused(
        "POST", "network_disk/", {"mount_point": "/mnt/data", "machine_id": stranger}, 403, "not_authorized"
    )


def _maintenance(service, own, stranger):
    shape = {"success": True, "ctime": float, "machine_id": own, "msg": str}
    service.ok("PUT", f"machines/{own}/cancel_maint", shape=shape)
    assert service.send("PUT", f"machines/{own}/cancel_maint/").status == 200
    for machine in (1, stranger):
        extra = {"success": False, "machine_id": machine, "user_id": service.user_id}
        service.refused("PUT", f"machines/{machine}/cancel_maint", None, 404, None, extra)


def _clean_up(service, own, stranger):
    shape = {
        "success": True,
        "ctime": float,
        "machine_id": own,
        "user_id": service.user_id,
        "num_deleted": int,
        "msg": str,
    }
    assert service.ok("PUT", f"machines/{own}/cleanup", {}, shape)["num_deleted"] > 0
    assert service.ok("PUT", f"machines/{own}/cleanup", {}, shape)["num_deleted"] == 0
    service.refused("PUT", f"machines/{own}/cleanup", None, 400, "invalid_args")
    service.refused("PUT", f"machines/{stranger}/cleanup", {}, 403, "not_authorized")
    statuses = {service.send("PUT", "machines/1/cleanup", {}, patient=False).status for _ in range(16)}
    assert 429 in statuses, statuses
