"""Tags of runs: the parameter, and changes of tags."""

import pytest

from storebench.errors import SpecError
from storebench.planning.params import common_values, run_values
from storebench.study.parameters import measured_with
from storebench.study.studies import find
from storebench.study.tags import FIELD, MOST_TAGS, TAGS, changes_of, check_tags, requested_tags, tags_of


def test_the_tags_of_a_text_are_sorted_and_each_is_there_once():
    assert tags_of(FIELD.read(" release:1.2,nightly ,a/b+c, nightly")) == ["a/b+c", "nightly", "release:1.2"]
    assert tags_of(FIELD.read(None)) == []


@pytest.mark.parametrize(
    "text", ["a b", "-a", "a,,b", "ü", "<b>", "x" * 65, ",".join(map(str, range(MOST_TAGS + 1))), ["a"]]
)
def test_an_invalid_tag_is_refused_with_the_rule(text):
    with pytest.raises(SpecError, match=r"at most 20 tags .* at most 64 characters: letters, digits"):
        run_values(find("bulk_write_read"), {TAGS: text})
    assert requested_tags(text) == []


def test_tags_change_nothing_that_is_measured():
    study = find("bulk_write_read")
    plain, tagged = (run_values(study, {TAGS: tags}) for tags in ("", "release:1.2"))
    assert {name for name in plain if plain[name] != tagged[name]} == {TAGS}
    for store in study.stores:
        assert measured_with(study, store, plain) == measured_with(study, store, tagged)
    assert common_values({TAGS: "a"})[TAGS] == "a"


def test_changes_add_and_remove():
    assert changes_of(["+release:1.2", "-nightly", "+b"]) == (["b", "release:1.2"], ["nightly"])
    for texts, reason in (
        (["a"], "is no change of a tag"),
        (["+a", "-a"], "at once"),
        (["+a b"], "is no tag"),
    ):
        with pytest.raises(SpecError, match=reason):
            changes_of(texts)
    with pytest.raises(SpecError, match="would have 21 tags"):
        check_tags(map(str, range(MOST_TAGS + 1)))
