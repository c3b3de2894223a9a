"""Sections 4.1 and 5: the user, API keys, and what keys may do."""

USER = {"id": int, "email": str, "credit": float, "ssh_key": str, "tfa_status": str}
LISTED = {"id": int, "user_id": int, "key": str, "rights": str, "team_id": int, "team_name": str}
KEYS = "auth/apikeys/"


def run(service):
    user = service.ok("GET", "users/current/", shape=USER)
    assert user["id"] == service.user_id
    for key in (None, "wrong"):
        service.forbidden("GET", "users/current/", None, key)
    _make_and_list(service)
    _refusals(service)
    _scopes(service)
    _limits(service)


def _make_and_list(service):
    permissions = {"api": {"user_read": {}, "instance_read": {}}}
    body = {"name": "reader", "permissions": permissions, "key_params": {"note": "a test"}}
    made = service.ok("POST", KEYS, body, {"id": int, "key": str, "permissions": (False, dict)})
    assert made["permissions"] == permissions
    listed = service.ok("GET", KEYS, shape={"apikeys": [LISTED]})["apikeys"]
    mine = next(key for key in listed if key["id"] == made["id"])
    assert mine["key"] != made["key"] and mine["key"].endswith(made["key"][-4:]), mine
    service.send("DELETE", f"{KEYS}{made['id']}/")
    service.forbidden("GET", "users/current/", None, made["key"])


def _refusals(service):
    service.refused("POST", KEYS, {"name": "x"}, 400, "missing_permissions")
    service.refused("POST", KEYS, {"name": "x", "permissions": {"api": {"fly": {}}}}, 400, "invalid_permissions")
    assert service.send("POST", KEYS, {"name": 5}).status == 400
    service.forbidden("POST", KEYS, {"name": "x"}, "wrong")


def _scopes(service):
    def scoped(*categories):
        api = {category: {} for category in categories}
        return service.ok("POST", KEYS, {"name": "scoped", "permissions": {"api": api}})["key"]

    reader = scoped("user_read")
    service.ok("GET", "users/current/", shape=USER, key=reader)
    service.ok("GET", "template/", key=reader)
    service.forbidden("POST", "template/", {}, reader)
    service.forbidden("GET", "instances/", None, reader)
    watcher = scoped("instance_read", "misc")
    service.ok("GET", "instances/", key=watcher)
    service.ok("POST", "bundles/", {"limit": 1}, key=watcher)
    service.forbidden("PUT", "asks/1/", {"image": "ubuntu"}, watcher)
    service.forbidden("GET", "template/", None, watcher)


def _limits(service):
    statuses = [service.send("GET", KEYS, patient=False).status for _ in range(4)]
    assert 429 in statuses, statuses
