"""Requests to the service, and what is promised about their answers."""

import http.client
import json
import re
import time
import urllib.parse

from .shapes import fits


class Answer:
    def __init__(self, status, body, headers):
        self.status = status
        self.body = body
        self.headers = headers


class Service:
    """A service under its base address. Counts what succeeded, and which error codes came."""

    def __init__(self, base_url, api_key, user_id):
        self.host = urllib.parse.urlsplit(base_url).netloc
        self.api_key = api_key
        self.user_id = user_id
        self.requests = 0
        self.succeeded = set()
        self.codes = set()

    def send(self, method, path, body=None, key="", patient=True):
        """One request below /api/v0/. Without `key` the account's own is sent, with None no key at all.
        Asked to wait (429 with `detail`), a patient caller does, and tries again."""
        headers = {"Content-Type": "application/json"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key or self.api_key}"
        answer = self._exchange(method, f"/api/v0/{path}", body, headers)
        if answer.status == 429 and "detail" in answer.body:
            fits(answer.body, {"detail": str}, f"{method} {path}")
            assert "threshold" in answer.body["detail"], answer.body
            if patient:
                time.sleep(0.35)
                return self.send(method, path, body, key)
        return answer

    def ok(self, method, path, body=None, shape=None, key=""):
        """The body of a request that must succeed, and have this shape."""
        answer = self.send(method, path, body, key)
        assert answer.status == 200, f"{method} {path}: {answer.status} {answer.body}"
        fits(answer.body, shape or {}, f"{method} {path}")
        template = re.sub(r"/\d+(?=/|$)", "/{x}", urllib.parse.urlsplit(f"/api/v0/{path}").path)
        self.succeeded.add((method, template))
        return answer.body

    def refused(self, method, path, body, status, error=None, extra=None, key=""):
        """The body of a request that must be refused, in the shape of section 7."""
        answer = self.send(method, path, body, key)
        what = f"{method} {path} {body}: {answer.status} {answer.body}"
        assert answer.status == status, f"{what}, not {status}"
        assert answer.body.get("success", False) is False, what
        fits(answer.body, {"msg": str, **(extra or {})}, what)
        assert answer.body.get("error") == error, f"{what}, not {error}"
        if error:
            self.codes.add(error)
        return answer.body

    def forbidden(self, method, path, body, key):
        """A key that lacks the permission, or none: 401 or 403 (section 5)."""
        answer = self.send(method, path, body, key)
        assert answer.status in (401, 403), f"{method} {path}: {answer.status} {answer.body}"

    def control(self, path, body=None):
        """The simulator's control plane: a GET without a body, else a POST."""
        headers = {"Content-Type": "application/json"}
        answer = self._exchange("GET" if body is None else "POST", f"/sim/{path}", body, headers)
        assert answer.status == 200, f"/sim/{path}: {answer.status} {answer.body}"
        return answer.body

    def wait(self, seconds):
        """Lets so much of the world's time pass."""
        self.control("clock", {"advance": seconds})

    def _exchange(self, method, path, body, headers):
        self.requests += 1
        connection = http.client.HTTPConnection(self.host, timeout=20)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, headers)
            response = connection.getresponse()
            raw = response.read()
            try:
                parsed = json.loads(raw)
            except ValueError as error:
                raise AssertionError(f"{method} {path}: the body is no JSON: {raw[:200]!r}") from error
            assert isinstance(parsed, dict), f"{method} {path}: {parsed}"
            return Answer(response.status, parsed, response.headers)
        finally:
            connection.close()
