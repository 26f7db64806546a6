"""A mail server that keeps the messages that it receives."""

import email
import email.policy
import socketserver
import threading
from contextlib import contextmanager

ANSWERS = {"EHLO": "250 here", "HELO": "250 here", "MAIL": "250 ok", "RCPT": "250 ok", "QUIT": "221 bye"}


class _Session(socketserver.StreamRequestHandler):
    def handle(self):
        self.say("220 here")
        while line := self.rfile.readline():
            command = line.split()[0].decode().upper()
            if command == "DATA":
                self.say("354 go on")
                lines = iter(self.rfile.readline, b".\r\n")
                message = b"".join(line.removeprefix(b".") for line in lines)
                self.server.messages.append(email.message_from_bytes(message, policy=email.policy.default))
                self.say("250 ok")
            else:
                self.say(ANSWERS.get(command, "502 unknown"))
            if command == "QUIT":
                return

    def say(self, text):
        self.wfile.write(f"{text}\r\n".encode())


@contextmanager
def mail_server():
    """Run a mail server on a free port of this machine; `messages` has what it received."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Session) as server:
        server.messages = []
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
