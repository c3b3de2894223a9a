"""Sections 4.5, 2.3 and 4.6: templates, their search, renting from them, and workergroups."""

import json
import urllib.parse

PATH = "template/"
BARE = {"name": "a test", "image": "ubuntu", "docker_login_repo": "", "docker_login_user": "", "docker_login_pass": ""}
CREATED = {"template": {"id": int, "hash_id": str}}
SEARCHABLE = {
    "creator_id": int,
    "created_at": float,
    "count_created": int,
    "default_tag": str,
    "docker_login_repo": str,
    "id": int,
    "image": str,
    "jup_direct": bool,
    "hash_id": str,
    "name": str,
    "recent_create_date": float,
    "recommended_disk_space": float,
    "recommended": bool,
    "ssh_direct": bool,
    "tag": str,
    "use_ssh": bool,
}
OPERATORS = {
    "eq": lambda value, bound: value == bound,
    "neq": lambda value, bound: value != bound,
    "lt": lambda value, bound: value < bound,
    "lte": lambda value, bound: value <= bound,
    "gt": lambda value, bound: value > bound,
    "gte": lambda value, bound: value >= bound,
    "in": lambda value, bound: value in bound,
    "notin": lambda value, bound: value not in bound,
}


def run(service):
    _search(service)
    _life(service)
    _rent(service)
    _workergroups(service)


def find(service, filters=None):
    query = "" if filters is None else "?select_filters=" + urllib.parse.quote(json.dumps(filters))
    shape = {"templates": [{"hash_id": str, "name": str}]}
    return service.ok("GET", PATH + query, shape=shape)["templates"]


def _search(service):
    every = find(service)
    assert len(every) > 10, len(every)
    for field, kind in SEARCHABLE.items():
        bound = sorted(template[field] for template in every)[len(every) // 2]
        for operator, holds in OPERATORS.items():
            value = [bound] if operator in ("in", "notin") else bound
            found = find(service, {field: {operator: value}})
            expected = [template["id"] for template in every if holds(template[field], value)]
            assert sorted(template["id"] for template in found) == sorted(expected), (field, operator, bound)
        assert isinstance(bound, (int, float) if kind is float else kind), (field, bound)
    assert service.send("GET", PATH + "?select_filters=%7B").status == 400


def _life(service):
    first = service.ok("POST", PATH, {**BARE, "docker_login_pass": "a secret token"}, CREATED)["template"]
    second = service.ok("PUT", PATH, {"hash_id": first["hash_id"], "desc": "changed"}, CREATED)["template"]
    third = service.ok("PUT", PATH, {"hash_id": second["hash_id"], "tag": "24.04"}, CREATED)["template"]
    assert len({first["hash_id"], second["hash_id"], third["hash_id"]}) == 3
    (found,) = find(service, {"id": {"eq": first["id"]}})
    assert (found["desc"], found["tag"], found["name"]) == ("changed", "24.04", "a test"), found
    assert found["hash_id"] == third["hash_id"]
    assert "a secret token" not in json.dumps([first, second, third, found])
    assert service.send("PUT", PATH, {"hash_id": first["hash_id"], "desc": "stale"}).status in (400, 404)
    assert service.send("POST", PATH, {"name": "x"}).status == 400
    assert service.send("DELETE", PATH, {"template_id": third["hash_id"]}).status == 400
    service.ok("DELETE", PATH, {"template_id": first["id"]}, {"success": True})
    assert find(service, {"id": {"eq": first["id"]}}) == []


def _rent(service):
    """Section 4.2: scalars of the request win, `env` is merged, `template_id` is an error."""
    fields = {**BARE, "env": '-e A=1 -e B="two words" -p 8080:8080', "runtype": "ssh", "onstart": "echo template"}
    template = service.ok("POST", PATH, fields, CREATED)["template"]
    (offer,) = service.ok("POST", "bundles/", {"limit": 1})["offers"]
    path = f"asks/{offer['id']}/"
    service.refused("PUT", path, {"template_id": template["id"], "image": "ubuntu"}, 400, "invalid_args")
    body = {"template_hash_id": template["hash_id"], "env": {"A": "9", "C": "3"}, "onstart": "echo request"}
    rented = service.ok("PUT", path, body, {"success": True, "new_contract": int, "instance_api_key": str})
    instance = service.ok("GET", f"instances/{rented['new_contract']}/")["instances"]
    env = dict(instance["extra_env"])
    assert env == {"A": "9", "B": "two words", "C": "3", "-p 8080:8080": "1"}, env
    assert instance["onstart"] == "echo request", instance
    service.ok("DELETE", f"instances/{rented['new_contract']}/", shape={"success": True})
    service.ok("DELETE", PATH, {"template_id": template["id"]}, {"success": True})


def _workergroups(service):
    (template, *_) = find(service, {"recommended": {"eq": True}})
    body = {
        "endpoint_name": "chat",
        "template_hash": template["hash_id"],
        "search_params": "verified=true gpu_name=RTX_4090",
        "launch_args": "--disk 40",
        "min_load": 0.5,
        "target_util": 0.9,
    }
    service.ok("POST", "workergroups/", body)
    service.ok("POST", "workergroups/")
    assert service.send("POST", "workergroups/", {"min_load": "high"}).status == 400
