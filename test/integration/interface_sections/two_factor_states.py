"""Section 7: the codes that an account must be in some state for, and that every code of its tables was met."""

from contextlib import contextmanager

from .account import USER
from .two_factor import message, status

GENERAL = {
    "invalid_args",
    "invalid_permissions",
    "missing_permissions",
    "not_authorized",
    "no_such_instance",
    "no_such_user",
}
TWO_FACTOR = set(
    """bad_request auth_error invalid_tfa_method missing_auth_value missing_params email_not_verified 2fa_expired
    challenge_not_found no_challenge_found tfa_challenge_exists authorization_required no_pending_authorization
    invalid_backup_code untracked_2fa_found duplicate_tfa_method twilio_error preauth_phone_cap sms_rate_limited
    tfa_locked service_unavailable phone_number_mismatch 2fa_login_failed 2fa_verification_failed team_user_forbidden
    missing_email missing_phone_number not_found tfa_method_not_configured challenge_creation_failed
    sms_blocked_number sms_fraud_detected""".split()
)


def run(service):
    _refusals(service)
    _legacy(service)
    _too_many_messages(service)
    missed = (GENERAL | TWO_FACTOR) - service.codes
    assert not missed, f"Codes that never came: {sorted(missed)}"


@contextmanager
def _account(service, usual, **state):
    """The account in a state, and back as usual."""
    service.control("account", state)
    try:
        yield
    finally:
        service.control("account", usual)


def _refusals(service):
    number = {"phone_number": "+15551239999"}
    with _account(service, {"email_verified": True}, email_verified=False):
        for path, body in (("email", {}), ("sms", number), ("sms/resend", {}), ("authorize-new-method", {})):
            service.refused("POST", f"tfa/{path}/", body, 400, "email_not_verified")
    email = service.ok("GET", "users/current/")["email"]
    with _account(service, {"email": email, "email_verified": True}, email=None):
        service.refused("POST", "tfa/email/", {}, 400, "missing_email")
    with _account(service, {"team": False}, team=True):
        service.refused("GET", "tfa/status/", None, 403, "team_user_forbidden")
    with _account(service, {"sms_fraud": False}, sms_fraud=True):
        service.refused("POST", "tfa/sms/", number, 403, "sms_fraud_detected")
    with _account(service, {"blocked_numbers": []}, blocked_numbers=["+15551239999"]):
        service.refused("POST", "tfa/sms/", number, 400, "sms_blocked_number")
    with _account(service, {"cache_down": False}, cache_down=True):
        service.refused("POST", "tfa/authorize-new-method/", {}, 503, "service_unavailable")
        service.refused("POST", "tfa/email/", {}, 500, "challenge_creation_failed")
    # Twilio's own number for one that cannot be reached.
    service.refused("POST", "tfa/sms/", {"phone_number": "+15005550001"}, 400, "twilio_error")


def _legacy(service):
    """Two-factor from before methods were kept: enabled, without method rows."""
    number = "+15551230005"
    with _account(service, {"legacy": False, "phone_number": None}, legacy=True, phone_number=number):
        assert service.ok("GET", "users/current/", shape=USER)["tfa_status"] == "legacy"
        now = status(service)
        assert now["tfa_enabled"] is True and now["methods"] == [], now
        service.refused("POST", "tfa/authorize-new-method/", {}, 400, "untracked_2fa_found")
        answer = service.ok("POST", "tfa/", _sms(service), USER)
        assert answer["legacy_tfa_user"] is True, answer
        service.wait(61)
        made = service.ok("PUT", "tfa/regen-backup-codes/", _sms(service), {"msg": str, "backup_codes": [str]})
        assert len(made["backup_codes"]) == 10
        (method,) = status(service)["methods"]
        assert method["method"] == "sms" and method["phone_number"].endswith(number[-4:]), method
    service.wait(61)
    service.ok("DELETE", "tfa/", _sms(service), {"msg": str})
    assert status(service)["tfa_enabled"] is False


def _sms(service):
    sent = service.ok("POST", "tfa/sms/", {}, {"msg": str, "secret": str})
    return {"tfa_method": "sms", "code": message(service, "sms")["code"], "secret": sent["secret"]}


def _too_many_messages(service):
    service.wait(3600)
    secret = service.control("tfa-secret", {})["tfa_secret"]
    number = {"phone_number": "+15551237777", "secret": secret}
    assert _until_refused(service, number, None) == "preauth_phone_cap"
    service.wait(3600)
    codes = {_until_refused(service, {"phone_number": f"+1555123{last}"}, "") for last in range(6000, 6020)}
    assert "sms_rate_limited" in codes, codes


def _until_refused(service, body, key):
    """Asks for a message until it is refused for another reason than a recent code; gives the error."""
    for _ in range(12):
        answer = service.send("POST", "tfa/sms/", body, key)
        if answer.status == 200 and key == "":
            return None
        if answer.status != 200 and answer.body.get("error") != "tfa_challenge_exists":
            assert answer.status == 429, answer.body
            service.codes.add(answer.body["error"])
            return answer.body["error"]
        service.wait(61)
    raise AssertionError("Nothing limits messages to one number.")
