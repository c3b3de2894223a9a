"""An authenticator app: RFC 6238 with SHA-1, 6 digits and steps of 30 seconds."""

import base64
import hashlib
import hmac
import struct
import time
import urllib.parse


def code(secret, at=None):
    """The code of a base32 secret at a moment (epoch seconds), now by default."""
    counter = int((time.time() if at is None else at) // 30)
    key = base64.b32decode(secret.upper() + "=" * (-len(secret) % 8))
    digest = hmac.new(key, struct.pack(">Q", counter), hashlib.sha1).digest()
    offset = digest[-1] & 15
    number = struct.unpack(">I", digest[offset : offset + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06d}"


def secret_of(provisioning_uri):
    """The secret in an otpauth address."""
    parts = urllib.parse.urlsplit(provisioning_uri)
    assert parts.scheme == "otpauth" and parts.netloc == "totp", provisioning_uri
    return urllib.parse.parse_qs(parts.query)["secret"][0]


# RFC 6238, appendix B: the last six of the eight digits.
_TEST_SECRET = base64.b32encode(b"12345678901234567890").decode()
assert code(_TEST_SECRET, 59) == "287082"
assert code(_TEST_SECRET, 1111111109) == "081804"
