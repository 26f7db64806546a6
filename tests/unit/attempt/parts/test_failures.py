"""Parts that die, fail, do not come, or do not belong to the operation."""

import socket

from tests.ports import free_port
from tests.unit.attempt.parts.planted import MERGES

WORKING = "phase: operation"  # what a part prints just before the common begin


def test_a_killed_part_ends_all_parts_and_is_named(pods):
    running = pods("sleeping", 3)
    for pod in running.values():
        pod.prints(WORKING)
    running[2].kill()
    code, whole = running[0].ended()
    assert (code, whole.status, whole.error_kind) == (6, "failed", "part_failed")
    assert whole.error.startswith("part 2 of 3 (pod pod-2, node node-2) ended without a reason")
    _, other = running[1].ended()
    assert other.error_kind == "part_failed" and "part 2 of 3 (pod pod-2, node node-2)" in other.error


def test_a_part_that_fails_tells_its_reason(pods):
    running = pods("refused", 2)
    _, whole = running[0].ended()
    assert (whole.error_kind, whole.error) == (
        "part_failed",
        "part 1 of 2 (pod pod-1, node node-1) failed (store_failed): The disk is full",
    )
    code, other = running[1].ended()
    assert (code, other.error_kind, other.error) == (5, "store_failed", "The disk is full")


def test_a_leader_that_cannot_be_interrupted_leaves_its_result_all_the_same(pods):
    code, whole = pods("stubborn", 2)[0].ended()
    assert (code, whole.status, whole.error_kind) == (6, "failed", "part_failed")
    assert whole.error.endswith("The disk is full") and "total_s" in vars(whole)


def test_followers_end_with_their_leader(pods):
    running = pods("sleeping", 3)
    for pod in running.values():
        pod.prints(WORKING)
    running[0].kill()
    for number in (1, 2):
        code, other = running[number].ended()
        assert (code, other.error_kind) == (6, "part_failed")
        assert other.error.startswith(f"the leader of part {number} of 3 (127.0.0.1) ended without a reason")


def test_a_part_that_does_not_come_is_named(pods):
    running = pods("asking", 4, missing=[1, 3], wait_s=1)
    code, whole = running[0].ended()
    assert (code, whole.error_kind) == (6, "part_failed")
    assert whole.error == "Parts 1, 3 of 4 did not come within 1 s"
    _, other = running[2].ended()
    assert "Parts 1, 3 of 4 did not come within 1 s" in other.error


def test_a_pod_with_a_wrong_key_is_refused(pods):
    running = pods("asking", 2, wait_s=2, followers={"STOREBENCH_PARTS_KEY": "guessed"})
    _, other = running[1].ended()
    assert other.error_kind == "part_failed" and "the key is wrong" in other.error
    _, whole = running[0].ended()
    assert whole.error == "Part 1 of 2 did not come within 2 s", "the refused pod does not count"


def test_a_follower_without_a_leader_says_where_the_leader_should_be(pods):
    port = free_port()
    follower = {"STOREBENCH_LEADER": "127.0.0.1", "STOREBENCH_PARTS_PORT": str(port)}
    _, other = pods("asking", 2, wait_s=1, followers=follower)[1].ended()
    assert f"(127.0.0.1) did not answer on port {port} within 1 s" in other.error


def test_a_store_that_gathers_no_results_is_not_verified(pods):
    running = pods("forgetful", 2, merges=MERGES)
    kinds = {pod.ended()[1].error_kind for pod in running.values()}
    assert "bad_result" in kinds and kinds <= {"bad_result", "part_failed"}


def test_strangers_and_second_pods_do_not_stop_the_leader(pods):
    running = pods("asking", 3, missing=[2], wait_s=3)
    running[0].prints("part 1 of 3")
    port = leaders_port(running[0])
    replies = [
        talk(port, b'{"key": "secret", "part": 1, "pod": "again", "node": ""}\n'),
        talk(port, b'{"key": "secret", "part": 3}\n'),
        talk(port, b"GET / HTTP/1.1\r\n\r\n"),
        talk(port, b"x" * 5000),
    ]
    assert b"part 1 has come already" in replies[0]
    assert b"there is no part 3: the parts are 1 to 2" in replies[1]
    assert b"is no JSON" in replies[2]
    assert b"a line has more than 4,096 bytes" in replies[3]
    _, whole = running[0].ended()
    assert whole.error == "Part 2 of 3 did not come within 3 s"


def test_a_part_that_breaks_the_protocol_ends_the_attempt(pods):
    running = pods("asking", 2, missing=[1])
    running[0].prints("phase: parts")
    with socket.create_connection(("127.0.0.1", leaders_port(running[0]))) as connection:
        connection.sendall(b'{"key": "secret", "part": 1, "pod": "other", "node": "n"}\n[1, 2]\n')
        _, whole = running[0].ended()
    assert whole.error == (
        "part 1 of 2 (pod other, node n) sent what the protocol does not know: a line is no JSON object: b'[1, 2]\\n'"
    )


def leaders_port(pod):
    return int(pod.environment["STOREBENCH_PARTS_PORT"])


def talk(port, line):
    """Send a line to the leader. Return all that the leader answers."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(line)
        connection.settimeout(20)
        answer = b""
        try:
            while more := connection.recv(4096):
                answer += more
        except ConnectionResetError:  # the leader has not read the whole line
            pass
        return answer
