"""When the counters of the server of a divided operation are read."""


def test_only_the_leader_of_a_divided_operation_reads_before_the_begin_and_after_the_last_end(pods, logs):
    ends = {number: pod.ended() for number, pod in pods("counting", 2).items()}
    assert [code for code, _ in ends.values()] == [0, 0], ends
    leader, follower = (part for part in logs())
    assert (len(leader["reads"]), follower["reads"]) == (2, [])
    before_s, after_s = leader["reads"]
    assert before_s < min(leader["began"], follower["began"])
    assert max(leader["ended"], follower["ended"]) < after_s, "all processes of a machine have one clock"
    assert follower["prepared"] < before_s, "no preparation of another part is counted"
    assert ends[0][1].counters["reads"]["after"] == 1
    assert ends[1][1].counters == {}
