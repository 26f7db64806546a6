import pytest

from storebench.dataset.columns import Column


def found(*chunks, **kwargs):
    column = Column("c", **kwargs)
    for chunk in chunks:
        column.update(chunk)
    return column.field()


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["0", "-1", "9223372036854775807"], "integer"),
        (["9223372036854775808"], "decimal"),
        (["007"], "string"),
        (["-0"], "string"),
        (["1", "2.5"], "string"),
        (["1.50", "-0.25"], "decimal"),
        (["-0.00"], "string"),
        (["0.0000001"], "string"),
        (["1" * 39], "string"),
        (["1." + "2" * 6], "decimal"),
        ([".5"], "string"),
        (["1e5"], "string"),
        (["+1"], "string"),
        (["1٢"], "string"),
        (["true", "false"], "boolean"),
        (["True"], "string"),
        (["2024-02-29"], "date"),
        (["2023-02-29"], "string"),
        (["1899-12-31", "0001-01-01", "1582-10-10", "9999-12-31"], "date"),
        (["0000-12-31"], "string"),
        (["10000-01-01"], "string"),
        (["2024-05-06", "9999-12-32"], "string"),
        (["2024-05-06T07:08:09Z"], "timestamp"),
        (["2024-05-06T24:08:09Z"], "string"),
        (["2024-05-06T07:08:09"], "string"),
        (["2024-05-06T07:08:09.5Z"], "string"),
        (["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"], "timestamp"),
        (["2024-05-06T07:08:09.500Z", "2024-05-06T07:08:09.000Z"], "timestamp"),
        (["2024-05-06T07:08:09.500000001Z"], "timestamp"),
        (["2024-05-06T07:08:09.500Z", "2024-05-06T07:08:09Z"], "string"),
        (["10000-01-01T00:00:00Z"], "string"),
        (["2024-05-06", "n/a"], "string"),
        ([" 1"], "string"),
    ],
)
def test_a_type_is_that_of_which_every_text_is_the_canonical_one(texts, kind):
    assert found(texts).type == kind
    assert found(*[[text] for text in texts]).type == kind, "in whatever parts they come"


def test_nulls_leave_the_type_and_are_told():
    field = found(["1", ""], ["", "23"])
    assert (field.type, field.nullable, field.longest) == ("integer", True, 2)
    assert found(["", ""]).type == found([]).type == "string"


def test_a_decimal_has_room_for_all_its_digits():
    field = found(["12345.5"], ["0.1"])
    assert (field.type, field.precision, field.scale) == ("decimal", 6, 1)
    assert found(["1" * 36 + ".22"]).precision == 38
    assert found(["1" * 37 + ".22"]).type == "string"
    whole = found(["9223372036854775808", "1"])
    assert (whole.precision, whole.scale) == (19, 0)


@pytest.mark.parametrize(
    ("chunks", "earliest", "latest", "scale"),
    [
        ([["2024-05-06", ""], ["1500-01-01", "9999-12-31"]], "1500-01-01", "9999-12-31", None),
        ([["2024-05-06T07:08:09Z"]], "2024-05-06T07:08:09Z", "2024-05-06T07:08:09Z", None),
        (
            [["1969-05-06T07:08:09.500Z"], ["1969-05-06T07:08:09.499Z"]],
            "1969-05-06T07:08:09.499Z",
            "1969-05-06T07:08:09.500Z",
            3,
        ),
    ],
)
def test_dates_and_timestamps_tell_the_first_and_the_last(chunks, earliest, latest, scale):
    field = found(*chunks)
    assert (field.earliest, field.latest, field.scale) == (earliest, latest, scale)


def test_what_has_no_date_tells_none():
    field = found(["2024-05-06"], ["unknown"])
    assert (field.type, field.earliest, field.latest, field.misfit) == ("string", None, None, None)


def test_a_typed_column_tells_the_text_that_made_it_a_string():
    field = found(["2024-05-06", "10000-01-01"], types=("date",))
    assert (field.type, field.misfit) == ("string", "10000-01-01")


def test_two_numbers_of_places_are_no_decimal_whatever_part_they_are_in():
    assert found(["1.5"], ["1.25"]).type == "string"


def test_a_column_that_has_types_of_its_own_has_none_of_others():
    assert found(["12", "13"], types=()).type == "string"
    assert found(["1e-07", "0.1"], types=("float",)).type == "float"
