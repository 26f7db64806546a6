"""Values of a run's parameters from the form, which sends texts, from the API, and from the command line."""

import json

import pytest

from storebench.errors import SpecError
from storebench.fields import (
    CPU,
    JAVA_SIZE,
    MEMORY,
    Choice,
    Number,
    Text,
    Values,
    flag,
    integer,
    json_of,
    size,
    storable,
)


def upper(text):
    if not text.isalpha():
        raise SpecError(f"{text!r} is no word")
    return text.upper()


WHOLE = integer(5, 1, 10_000, "Rows", "How many.", (1, 10))
PERHAPS = integer(None, 1, 10, "Seed", "Any.", (1,))
SHARE = Number(title="Share", text="", maximum=100, examples=(1,))
SWITCH = flag("Keep", "")
OPEN = flag("Skip", "", default=None)
WORD = Text(title="Word", text="", default="a", pattern="[a-z]+", hint="a word", examples=("a",))
ANY = Text(title="Any", text="", default="", pattern=r"[^?]*", hint="a text", examples=("a",))
WORDS = Values(title="Words", text="", default="a", examples=("a", "b"), check=upper)
HEAP = size("1g", JAVA_SIZE, "Heap", "", ("1g",))
CORES = size("1", CPU, "Cores", "", ("1",))
ROOM = size("1Gi", MEMORY, "Room", "", ("1Gi",))


@pytest.mark.parametrize(
    ("field", "given", "value"),
    [
        (WHOLE, 7, 7),
        (WHOLE, "7", 7),
        (WHOLE, " 1,000 ", 1000),
        (WHOLE, "10_000", 10_000),
        (WHOLE, 7.0, 7),
        (PERHAPS, "", None),
        (PERHAPS, "  ", None),
        (PERHAPS, None, None),
        (PERHAPS, "7", 7),
        (SHARE, "2.5", 2.5),
        (SHARE, None, None),
        (SWITCH, True, True),
        (SWITCH, "False", False),
        (SWITCH, "yes", True),
        (OPEN, None, None),
        (OPEN, "no", False),
        (WORD, " abc ", "abc"),
        (WORDS, "a, b,,a", ["A", "B"]),
        (WORDS, ["a", "b"], ["A", "B"]),
        (HEAP, "768m", "768m"),
        (CORES, 2, "2"),
        (CORES, "0.5", "0.5"),
        (CORES, "250m", "250m"),
        (ROOM, "500Mi", "500Mi"),
        (ROOM, "1000000", "1000000"),
    ],
)
def test_what_is_meant_is_read(field, given, value):
    found = field.read(given)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("field", "given", "message"),
    [
        (WHOLE, 0, "Rows: 0 is not a whole number from 1 to 10,000"),
        (WHOLE, "10,001", "Rows: '10,001' is not a whole number from 1 to 10,000"),
        (WHOLE, "1,00", "Rows: '1,00' is not a whole number"),
        (WHOLE, 1.5, "Rows: 1.5 is not a whole number"),
        (WHOLE, True, "Rows: True is not a whole number"),
        (WHOLE, None, "Rows: None is not a whole number"),
        (WHOLE, "", "Rows: '' is not a whole number"),
        pytest.param(WHOLE, "9" * 5000, "Rows: '9999", id="more digits than Python reads"),
        (SHARE, "0", "Share: '0' is not a number above 0, and at most 100"),
        (SHARE, "nan", "Share: 'nan' is not a number above 0"),
        (SHARE, True, "Share: True is not a number above 0"),
        pytest.param(SHARE, 10**400, "Share: 1000", id="more than a float holds"),
        (SWITCH, "perhaps", "Keep: 'perhaps' is not true or false"),
        (SWITCH, None, "Keep: None is not true or false"),
        (WORD, "A b", "Word: 'A b' is not a word"),
        (ANY, "a\x00", r"Any: 'a\x00' is not a text"),
        (ANY, "\udcff", r"Any: '\udcff' is not a text"),
        (WORDS, " , ", "Words: give at least one of a, b"),
        (WORDS, "a,1", "'1' is no word"),
        (HEAP, "1Gi", "Heap: '1Gi' is not a Java size, such as 1g or 768m"),
        (CORES, "0", "Cores: '0' is not a number of CPUs"),
        (ROOM, "8", "Room: '8' is not an amount of memory"),
    ],
)
def test_what_cannot_be_is_refused_in_plain_words(field, given, message):
    with pytest.raises(SpecError) as caught:
        field.read(given)
    assert str(caught.value).startswith(message)


def test_a_form_takes_nearly_everything_and_shows_the_first_type():
    assert WHOLE.types[0] == "string" and "null" not in WHOLE.types
    assert PERHAPS.types[0] == "string" and PERHAPS.types[-1] == "null"
    assert SWITCH.types[0] == "boolean"
    choice = Choice(title="Stores", text="", default=["a"], examples=("a",), check=upper)
    assert choice.types[0] == "array" and set(choice.types) == set(WHOLE.types)


def test_the_range_of_a_number_is_in_its_help():
    assert WHOLE.text == "How many. From 1 to 10,000."


def test_a_text_that_may_be_empty_is_so_in_the_form_too():
    field = Text(title="T", text="", default="", examples=(), pattern="|x", hint="x, or empty")
    assert field.types[0] == "string" and field.types[-1] == "null"
    assert [field.read(value) for value in (None, "", " ", "x")] == ["", "", "", "x"]
    with pytest.raises(SpecError, match="T: 'y' is not x, or empty"):
        field.read("y")


def nested(levels):
    """Return a text nested in `levels` lists."""
    found = "a"
    for _ in range(levels):
        found = [found]
    return found


def test_a_value_that_is_nested_too_deeply_is_refused():
    with pytest.raises(SpecError, match="Words: the value is nested too deeply"):
        WORDS.read(nested(100_000))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "Expecting"),
        ('{"a": [NaN]}', "nan is no number of JSON"),
        ("-1e999", "-inf is no number of JSON"),
        (r'["a\u0000"]', r"the character '\x00' cannot be stored"),
        (r'{"\ud800": 1}', r"the character '\ud800' cannot be stored"),
        ("[" * 51 + "]" * 51, "nested too deeply"),
        ("[" * 9_000, "nested too deeply"),
        ("9" * 5000, "digits"),
    ],
    ids=str,
)
def test_a_text_of_json_that_cannot_be_kept_is_refused(text, why):
    with pytest.raises(ValueError) as caught:
        json_of(text)
    assert why in str(caught.value)


def test_a_text_of_json_that_can_be_kept_is_read():
    assert json_of(r'{"a": [1, 2.5, null, "\ud83d\ude00"]}') == {"a": [1, 2.5, None, "😀"]}
    assert json_of("[" * 50 + "]" * 50)


def test_a_value_that_postgres_refuses_is_recorded_in_another_form():
    asked = {"a\x00": "\ud800b", "c": [float("nan"), float("-inf"), 1.5, None, True], "d": nested(100_000)}
    found = storable(asked)
    assert found["a\ufffd"] == "\ufffdb" and found["c"] == ["nan", "-inf", 1.5, None, True]
    assert "nested too deeply" in json.dumps(found, allow_nan=False)
