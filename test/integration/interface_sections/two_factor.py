"""Sections 3.2 and 4.7: from no second factor to two methods and back, and the logins in between."""

import re

from . import authenticator
from .account import USER

METHOD = {
    "id": int,
    "user_id": int,
    "method": ("sms", "totp"),
    "label": str,
    "is_primary": bool,
    "fail_count": int,
    "locked_until": (None, float),
    "created_at": float,
    "last_used": (None, float),
}
STATUS = {
    "success": True,
    "tfa_enabled": bool,
    "methods": [METHOD],
    "backup_codes_remaining": int,
    "new_method_authorized": bool,
}
BACKUP_CODE = re.compile(r"[^-]{4}-[^-]{4}-[^-]{4}")
NUMBER = "+15551230001"


def run(service):
    before = service.ok("GET", "tfa/status/", shape=STATUS)
    assert before["tfa_enabled"] is False and before["methods"] == [], before
    assert service.ok("GET", "users/current/", shape=USER)["tfa_status"] == "disabled"
    secret, backup_codes = _first_method(service)
    _second_method(service)
    _update(service)
    backup_codes = _logins(service, secret, backup_codes)
    _browser_login(service)
    _authorize_with_others(service, secret, backup_codes)
    backup_codes = _regenerate(service, secret, backup_codes)
    _lockout(service, secret)
    _expiry(service)
    _remove(service, secret, backup_codes)


def message(service, channel):
    """The latest message that was sent."""
    latest = service.control("outbox")["messages"][-1]
    assert latest["channel"] == channel and re.fullmatch(r"\d{6}", latest["code"]), latest
    return latest


def status(service):
    return service.ok("GET", "tfa/status/", shape=STATUS)


def authorize(service):
    """Opens the 30-minute window by email."""
    answer = service.ok("POST", "tfa/authorize-new-method/", {"tfa_method": "email"}, {"success": True, "secret": str})
    body = {"code": message(service, "email")["code"], "secret": answer["secret"]}
    service.ok("PUT", "tfa/authorize-new-method/", body, {"success": True, "msg": str})
    assert status(service)["new_method_authorized"] is True


def new_authenticator(service):
    answer = service.ok("POST", "tfa/totp-setup/", shape={"secret": str, "provisioning_uri": str})
    assert authenticator.secret_of(answer["provisioning_uri"]) == answer["secret"], answer
    return answer["secret"]


def _proof(secret):
    return {"tfa_method": "totp", "code": authenticator.code(secret)}


def _wrong(code):
    return "000000" if code != "000000" else "000001"


def _first_method(service):
    secret = new_authenticator(service)
    new = {**_proof(secret), "secret": secret, "label": "phone"}
    service.refused("POST", "tfa/confirm-new/", new, 403, "authorization_required")
    nothing = {"code": "123456", "secret": "x"}
    service.refused("PUT", "tfa/authorize-new-method/", nothing, 400, "no_pending_authorization")
    service.refused("PUT", "tfa/authorize-new-method/", {}, 400, "missing_params")
    authorize(service)
    service.refused("POST", "tfa/confirm-new/", {**new, "label": "x" * 31}, 400, "bad_request")
    service.refused("POST", "tfa/confirm-new/", {**new, "tfa_method": "email"}, 400, "invalid_tfa_method")
    answer = service.ok("POST", "tfa/confirm-new/", new, {"success": True, "msg": str, "backup_codes": [str]})
    _check_backup_codes(answer["backup_codes"])
    now = status(service)
    assert now["tfa_enabled"] is True and now["backup_codes_remaining"] == 10, now
    assert (now["methods"][0]["method"], now["methods"][0]["label"]) == ("totp", "phone"), now
    assert "secret" not in now["methods"][0]
    assert service.ok("GET", "users/current/")["tfa_status"] == "enabled"
    again = new_authenticator(service)
    body = {**_proof(again), "secret": again}
    service.refused("POST", "tfa/confirm-new/", body, 400, "duplicate_tfa_method")
    return secret, answer["backup_codes"]


def _check_backup_codes(codes):
    assert len(set(codes)) == 10 and all(BACKUP_CODE.fullmatch(code) for code in codes), codes


def _second_method(service):
    service.refused("POST", "tfa/sms/", {}, 400, "missing_phone_number")
    service.refused("POST", "tfa/sms/resend/", {}, 400, "no_challenge_found")
    service.refused("POST", "tfa/sms/", {"phone_number": "5551230001"}, 400, "bad_request")
    sent = service.ok("POST", "tfa/sms/", {"phone_number": NUMBER}, {"msg": str, "secret": str})
    first = message(service, "sms")
    assert first["to"] == NUMBER and first["secret"] == sent["secret"], first
    service.refused("POST", "tfa/sms/", {"phone_number": NUMBER}, 400, "tfa_challenge_exists")
    other = {"phone_number": "+15551230002", "secret": sent["secret"]}
    service.refused("POST", "tfa/sms/resend/", other, 400, "phone_number_mismatch")
    again = service.ok("POST", "tfa/sms/resend/", {"phone_number": NUMBER}, {"msg": str, "secret": str})
    new = {"tfa_method": "sms", "phone_number": NUMBER, "secret": again["secret"]}
    code = message(service, "sms")["code"]
    service.refused("POST", "tfa/confirm-new/", {**new, "code": _wrong(code)}, 400, "2fa_verification_failed")
    answer = service.ok("POST", "tfa/confirm-new/", {**new, "code": code}, {"success": True, "msg": str})
    assert "backup_codes" not in answer, answer
    method = _method(service, "sms")
    assert method["phone_number"].endswith(NUMBER[-4:]) and NUMBER[:-4] not in method["phone_number"], method


def _method(service, kind):
    return next(method for method in status(service)["methods"] if method["method"] == kind)


def _update(service):
    shape = {"success": True, "msg": str, "method": METHOD}
    by_kind = service.ok("PUT", "tfa/update/", {"tfa_method": "sms", "label": "work"}, shape)
    assert by_kind["method"]["label"] == "work", by_kind
    body = {"tfa_method_id": by_kind["method"]["id"], "is_primary": True}
    assert service.ok("PUT", "tfa/update/", body, shape)["method"]["is_primary"] is True
    assert [method["is_primary"] for method in status(service)["methods"]].count(True) == 1
    service.refused("PUT", "tfa/update/", {"tfa_method_id": 1, "label": "x"}, 404, "not_found")
    service.refused("PUT", "tfa/update/", {**body, "label": "x" * 31}, 400, "bad_request")
    service.refused("PUT", "tfa/update/", {"tfa_method": "email", "label": "x"}, 400, "invalid_tfa_method")


def _logins(service, secret, backup_codes):
    answer = service.ok("POST", "tfa/", {**_proof(secret), "admin": False}, {**USER, "session_key": str})
    assert "backup_codes_remaining" not in answer and "legacy_tfa_user" not in answer, answer
    service.ok("GET", "users/current/", shape=USER, key=answer["session_key"])
    sent = service.ok("POST", "tfa/email/", {}, {"success": True, "msg": str, "secret": str})
    mail = {"tfa_method": "email", "secret": sent["secret"]}
    code = message(service, "email")["code"]
    service.refused("POST", "tfa/", {**mail, "code": _wrong(code)}, 400, "2fa_login_failed")
    service.ok("POST", "tfa/", {**mail, "code": code}, USER)
    used, *left = backup_codes
    answer = service.ok("POST", "tfa/", {"backup_code": used}, USER)
    assert answer["backup_codes_remaining"] == 9, answer
    service.refused("POST", "tfa/", {"backup_code": used}, 401, "invalid_backup_code")
    service.refused("POST", "tfa/", {"tfa_method": "totp"}, 400, "missing_auth_value")
    service.refused("POST", "tfa/", {"tfa_method": "fax", "code": "123456"}, 400, "invalid_tfa_method")
    unknown = {"tfa_method": "email", "code": "123456", "secret": "unknown"}
    service.refused("POST", "tfa/", unknown, 400, "challenge_not_found")
    return left


def _browser_login(service):
    """Without a bearer token: a `tfa_secret` leads to a session by cookie or header."""
    for path in ("tfa/", "tfa/email/", "tfa/sms/", "tfa/sms/resend/"):
        service.refused("POST", path, {}, 403, "auth_error", key=None)
    for method, path in (("GET", "tfa/status/"), ("POST", "tfa/totp-setup/"), ("PUT", "tfa/update/")):
        service.refused(method, path, None, 403, "auth_error", key=None)
    secret = service.control("tfa-secret", {})["tfa_secret"]
    sent = service.ok("POST", "tfa/email/", {"secret": secret}, {"secret": str}, key=None)
    body = {"tfa_method": "email", "code": message(service, "email")["code"], "secret": sent["secret"]}
    answer = service.send("POST", "tfa/", body, key=None)
    assert answer.status == 200 and "session_key" not in answer.body, answer.body
    assert answer.headers.get("Set-Cookie") or answer.headers.get("Authorization"), answer.headers.items()


def _authorize_with_others(service, secret, backup_codes):
    """By a backup code, and by the code of a method that is there."""
    service.wait(31 * 60)
    assert status(service)["new_method_authorized"] is False
    service.ok("POST", "tfa/authorize-new-method/", {"backup_code": backup_codes.pop()}, {"success": True, "msg": str})
    assert status(service)["new_method_authorized"] is True
    service.wait(31 * 60)
    answer = service.ok("POST", "tfa/authorize-new-method/", {"tfa_method": "totp"}, {"success": True, "secret": str})
    body = {"code": authenticator.code(secret), "secret": answer["secret"]}
    service.ok("PUT", "tfa/authorize-new-method/", body, {"success": True, "msg": str})


def _regenerate(service, secret, old):
    answer = service.ok("PUT", "tfa/regen-backup-codes/", _proof(secret), {"msg": str, "backup_codes": [str]})
    _check_backup_codes(answer["backup_codes"])
    service.refused("POST", "tfa/", {"backup_code": old[0]}, 401, "invalid_backup_code")
    assert status(service)["backup_codes_remaining"] == 10
    return answer["backup_codes"]


def _lockout(service, secret):
    """One method is locked for 15 minutes, the account is not."""
    counts = {"fail_count": int, "locked_until": (None, float)}
    failures = 0
    while _method(service, "totp")["locked_until"] is None:
        assert failures < 20, "The method is never locked."
        body = {"tfa_method": "totp", "code": _wrong(authenticator.code(secret))}
        service.refused("PUT", "tfa/regen-backup-codes/", body, 400, "2fa_verification_failed", counts)
        failures += 1
    locked = {"fail_count": int, "locked_until": float}
    service.refused("POST", "tfa/", _proof(secret), 429, "tfa_locked", locked)
    assert _method(service, "sms")["locked_until"] is None
    service.wait(15 * 60 + 1)
    service.ok("POST", "tfa/", _proof(secret), USER)


def _expiry(service):
    sent = service.ok("POST", "tfa/email/", {}, {"secret": str})
    body = {"tfa_method": "email", "code": message(service, "email")["code"], "secret": sent["secret"]}
    service.wait(10 * 60 + 1)
    service.refused("POST", "tfa/", body, 400, "2fa_expired")


def _remove(service, secret, backup_codes):
    totp = _method(service, "totp")["id"]
    sms = _method(service, "sms")["id"]
    code = backup_codes[0]
    service.refused("DELETE", "tfa/", {"backup_code": code}, 400, "bad_request")
    service.refused("DELETE", "tfa/", {"backup_code": code, "target_id": 1}, 404, "not_found")
    answer = service.ok("DELETE", "tfa/", {"backup_code": code, "target_id": sms}, {"msg": str, "remaining_methods": 1})
    assert answer["remaining_methods"] == 1
    assert [method["id"] for method in status(service)["methods"]] == [totp]
    last = service.ok("DELETE", "tfa/", _proof(secret), {"msg": str})
    assert "remaining_methods" not in last, last
    after = status(service)
    assert after["tfa_enabled"] is False and after["backup_codes_remaining"] == 0, after
    service.refused("POST", "tfa/", {"backup_code": backup_codes[1]}, 401, "invalid_backup_code")
    service.refused("POST", "tfa/", _proof(secret), 400, "tfa_method_not_configured")
