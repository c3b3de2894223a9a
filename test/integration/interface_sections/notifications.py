"""Sections 4.1, 2.7 and 2.8: notification preferences and webhooks."""

CHANNELS = {"email": bool, "webhooks": bool}
PREFERENCES = {"client": {"low_credit": CHANNELS}}
WEBHOOK = {
    "id": int,
    "user_id": int,
    "name": str,
    "webhook_url": str,
    "event_types": [str],
    "created_at": int,
    "updated_at": int,
}


def run(service):
    _preferences(service)
    _webhooks(service)


def _preferences(service):
    path = f"users/{service.user_id}/notification-prefs/"
    for on in (True, False):
        wanted = {"client": {"low_credit": {"email": on, "webhooks": not on}}}
        shape = {"success": True, "notification_preferences": PREFERENCES}
        answer = service.ok("PUT", path, {"notification_preferences": wanted}, shape)
        assert answer["notification_preferences"] == wanted, answer
    _refusal(service, "PUT", path, {"notification_preferences": {"client": {"low_credit": True}}})
    _refusal(service, "PUT", "users/1/notification-prefs/", {"notification_preferences": wanted})


def _webhooks(service):
    made = service.send(
        "POST",
        "webhooks/",
        {"name": "a", "webhook_url": "https://a.example/", "event_types": ["client:low_credit"]},
    )
    webhook = made.body["webhook"]
    changes = {
        "name": "b",
        "webhook_url": "https://b.example/hook",
        "event_types": ["client:low_credit", "client:outbid", "host:machine_offline"],
    }
    shape = {"success": True, "webhook": WEBHOOK, "enabled_notification_preferences": [str]}
    path = f"webhooks/{webhook['id']}/"
    changed = service.ok("PUT", path, changes, shape)["webhook"]
    assert {**changed, **changes} == changed, changed
    part = service.ok("PUT", path, {"name": "c"}, shape)["webhook"]
    assert part["name"] == "c" and part["webhook_url"] == changes["webhook_url"], part
    _refusal(service, "PUT", path, {"webhook_url": "nonsense"})
    _refusal(service, "PUT", path, {"event_types": "client:outbid"})
    _refusal(service, "PUT", "webhooks/999999999/", {"name": "d"})


def _refusal(service, method, path, body):
    """`success` false, `error` and `msg`; the statuses are not shown."""
    answer = service.send(method, path, body)
    assert 400 <= answer.status < 500, answer.status
    assert answer.body["success"] is False and answer.body["error"] and answer.body["msg"], answer.body
