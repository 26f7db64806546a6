import pytest

from storebench.errors import SpecError
from storebench.stores.base import Pod, Store, split
from storebench.stores.bulk_write_read.delta_rs import DeltaRs
from storebench.stores.bulk_write_read.delta_spark import DeltaSpark
from storebench.stores.bulk_write_read.mongodb import MongoDB
from storebench.stores.bulk_write_read.null import Null


def test_a_store_may_be_on_several_servers():
    assert (split("mongodb"), split("mongodb@v8")) == (("mongodb", ""), ("mongodb", "v8"))
    assert MongoDB.connection_of("mongodb") == "mongodb"
    assert MongoDB.connection_of("mongodb@v8") == "mongodb_v8"
    assert DeltaRs.connection_of("delta-rs") == "s3"
    assert DeltaRs.connection_of("delta-rs@west") == "s3", "its tables are in the dataset's"
    assert Null.connection_of("null") is Null.connection_of("null@west") is None
    assert [store.has_server() for store in (MongoDB, DeltaRs, Null)] == [True, False, False]


@pytest.mark.parametrize("name", ["mongodb@", "mongodb@a-b", "mongodb@" + "x" * 31, "x@V8"])
def test_a_server_that_cannot_be_is_refused(name):
    with pytest.raises(SpecError, match="after the @ comes the name of a connection"):
        split(name)


def test_a_pod_starts_this_projects_program_in_the_stores_image():
    assert MongoDB.pod_of("write") == Pod("python", (), ("attempt",))
    assert DeltaSpark.pod_of("read") == Pod("jvm", account="storebench-spark")


def test_an_operation_may_have_a_pod_of_its_own():
    shell = Pod(command=("sh", "-c", "true"))

    class Mixed(Store):
        name = "mixed"
        operations = ("fill", "serve")
        pods = {"serve": shell}  # noqa: RUF012

    assert (Mixed.pod_of("fill"), Mixed.pod_of("serve"), Mixed.pod_of("drop")) == (Pod(), shell, Pod())


def test_a_store_that_says_its_operations_alone_needs_no_connection():
    class Plain(Store):
        name = "plain"
        operations = ("put",)

    assert Plain.clients == ("reference",) and Plain.keys({}) == ()
    assert Plain.keeps_data and not Plain.has_server()
