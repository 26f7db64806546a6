import http.server
import socket
import ssl
import threading
import time

import pytest
import trustme
from urllib3 import PoolManager

from storebench import http_client
from storebench.http_client import BrokenAnswer, NoAnswer, ask, by_environment


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        length = int(self.headers.get("Content-Length", 0))
        self.server.requests.append((self.command, self.path, self.headers, self.rfile.read(length)))
        status, headers, body = self.server.answers.get(self.path, (404, {}, b"no such path"))
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "Connection": "close", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_DELETE = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture
def authority():
    return trustme.CA()


@pytest.fixture(params=["http"])
def server(request, authority):
    """Yield a server with `answers`, `requests` and `url`."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.answers, server.requests = {}, []
    server.url = f"{request.param}://127.0.0.1:{server.server_port}"
    if request.param == "https":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_answer_of_any_status_is_returned(server):
    server.answers["/x?a=1"] = (503, {"X-Reason": "full"}, b'{"n": 1}')
    answer = ask("POST", f"{server.url}/x?a=1", timeout_s=5, headers={"Authorization": "t"}, body='{"b": 2}')
    assert (answer.status, answer.headers["x-reason"], answer.json()) == (503, "full", {"n": 1})
    with pytest.raises(ValueError, match="status 503 Service Unavailable"):
        answer.expected()
    ((command, path, headers, body),) = server.requests
    assert (command, path, headers["Authorization"], body) == ("POST", "/x?a=1", "t", b'{"b": 2}')


def test_a_failed_request_is_not_tried_again(server):
    server.answers["/x"] = (503, {"Retry-After": "0"}, b"")
    assert ask("GET", f"{server.url}/x", timeout_s=5).status == 503
    assert len(server.requests) == 1


def test_a_redirect_is_followed_only_if_the_caller_allows_redirects(server):
    server.answers |= {"/from": (307, {"Location": "/to"}, b""), "/to": (200, {}, b"there")}
    assert ask("GET", f"{server.url}/from", timeout_s=5).status == 307
    assert ask("GET", f"{server.url}/from", timeout_s=5, redirects=1).body == b"there"
    server.answers["/to"] = (307, {"Location": "/from"}, b"")
    with pytest.raises(NoAnswer, match="too many redirects"):
        ask("GET", f"{server.url}/from", timeout_s=5, redirects=http_client.REDIRECTS)


def test_only_a_part_of_a_long_answer_is_read(server):
    server.answers["/x"] = (200, {}, b"x" * 100_000)
    assert len(ask("GET", f"{server.url}/x", timeout_s=5, most_bytes=10).body) == 10


@pytest.mark.parametrize("most_bytes", [None, 1000])
def test_an_answer_that_breaks_off_is_told_from_no_answer(server, most_bytes):
    server.answers["/x"] = (200, {"Content-Length": "100"}, b"x")
    with pytest.raises(BrokenAnswer, match="1 bytes read, 99 more expected"):
        ask("GET", f"{server.url}/x", timeout_s=5, most_bytes=most_bytes)


def test_without_an_answer_the_error_has_the_systems_words():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{one.getsockname()[1]}"
        with pytest.raises(NoAnswer, match=r"^\[Errno 111\] Connection refused$"):
            ask("GET", url, timeout_s=5)
        one.listen()
        began_s = time.monotonic()
        with pytest.raises(NoAnswer, match=r"^timed out$") as error:
            ask("GET", url, timeout_s=0.2)
        assert time.monotonic() - began_s < 5 and not isinstance(error.value, BrokenAnswer)
    with pytest.raises(NoAnswer, match="Name or service not known"):
        ask("GET", "http://nowhere.invalid", timeout_s=5)


def test_the_environments_proxy_is_not_asked(server, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    server.answers["/x"] = (200, {}, b"")
    assert ask("GET", f"{server.url}/x", timeout_s=5).ok


@pytest.mark.parametrize("server", ["https"], indirect=True)
def test_only_a_trusted_certificate_is_accepted(server, authority):
    server.answers["/x"] = (200, {}, b"")
    context = ssl.create_default_context()
    authority.configure_trust(context)
    with PoolManager(ssl_context=context) as trusting:
        assert ask("GET", f"{server.url}/x", timeout_s=5, http=trusting).ok
    with pytest.raises(NoAnswer, match="CERTIFICATE_VERIFY_FAILED"):
        ask("GET", f"{server.url}/x", timeout_s=5)


@pytest.fixture
def environment(monkeypatch):
    """Return a function that sets variables of an environment without a proxy and authorities."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch.setenv


@pytest.mark.parametrize("name", ["http_proxy", "ALL_PROXY"])
def test_the_environments_proxy_is_asked_where_the_caller_wishes(server, environment, name):
    environment(name, f"user:p%40ss@{server.url.removeprefix('http://')}")
    environment("NO_PROXY", "near.invalid")
    server.answers["http://far.invalid/x"] = (200, {}, b"by the proxy")
    assert ask("GET", "http://far.invalid/x", timeout_s=5, http=by_environment("http://far.invalid")).ok
    ((_, _, headers, _),) = server.requests
    assert headers["Proxy-Authorization"] == "Basic dXNlcjpwQHNz"
    with pytest.raises(NoAnswer, match="Name or service not known"):
        ask("GET", "http://near.invalid/x", timeout_s=5, http=by_environment("http://near.invalid"))


@pytest.mark.parametrize("server", ["https"], indirect=True)
def test_the_environments_authority_is_trusted_where_the_caller_wishes(
    server, authority, environment, tmp_path
):
    server.answers["/x"] = (200, {}, b"")
    with pytest.raises(NoAnswer, match="CERTIFICATE_VERIFY_FAILED"):
        ask("GET", f"{server.url}/x", timeout_s=5, http=by_environment(server.url))
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    environment("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    assert ask("GET", f"{server.url}/x", timeout_s=5, http=by_environment(server.url)).ok
