"""Kustomizations that share manifests by other folders, components and patches. tests/integration compares them with kustomize itself."""

import pytest
import yaml

from storebench.errors import SpecError
from storebench.servers.kustomization import objects

SERVICE = {"kind": "Service", "metadata": {"name": "db"}, "spec": {"ports": [1, 2]}}
ONE = {"one/kustomization.yaml": {"resources": ["all.yaml"]}, "one/all.yaml": SERVICE}
TARGET = {"kind": "Service", "name": "db"}


def patch(*operations, **target):
    return {"target": {**TARGET, **target}, "patch": yaml.safe_dump(list(operations))}


@pytest.fixture
def read(tmp_path):
    """Write files below a folder, and return the objects of the folder `two`."""

    def read(files):
        for name, content in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return objects(tmp_path / "two")

    return read


def test_another_folder_comes_in_the_order_of_the_listing(read):
    own = {"kind": "StatefulSet", "metadata": {"name": "db"}}
    listing = {"namespace": "storebench", "resources": ["../one", "own.yaml"]}
    assert read({**ONE, "two/kustomization.yaml": listing, "two/own.yaml": own}) == [SERVICE, own]


@pytest.mark.parametrize(
    ("operation", "ports"),
    [
        ({"op": "replace", "path": "/spec/ports/1", "value": 3}, [1, 3]),
        ({"op": "add", "path": "/spec/ports/1", "value": 3}, [1, 3, 2]),
        ({"op": "add", "path": "/spec/ports/2", "value": 3}, [1, 2, 3]),
        ({"op": "add", "path": "/spec/ports/-", "value": 3}, [1, 2, 3]),
        ({"op": "add", "path": "/spec/ports", "value": [3]}, [3]),
        ({"op": "remove", "path": "/spec/ports/0"}, [2]),
        ({"op": "test", "path": "/spec/ports/0", "value": 1}, [1, 2]),
    ],
)
def test_a_patch_changes_the_object_that_it_names(read, operation, ports):
    (service,) = read(
        {**ONE, "two/kustomization.yaml": {"resources": ["../one"], "patches": [patch(operation)]}}
    )
    assert service == {**SERVICE, "spec": {"ports": ports}}


def test_a_patch_in_a_file_can_name_keys_with_slashes_and_tildes(read):
    operation = {"op": "add", "path": "/metadata/storebench~1~0entry", "value": "true"}
    listing = {"resources": ["../one"], "patches": [{"target": TARGET, "path": "service.yaml"}]}
    (service,) = read({**ONE, "two/kustomization.yaml": listing, "two/service.yaml": [operation]})
    assert service["metadata"] == {"name": "db", "storebench/~entry": "true"}


def test_a_component_adds_objects_and_patches_those_that_are_there_before_its_listing_s_own_patches(read):
    api = {"kind": "Service", "metadata": {"name": "api"}}
    component = {
        "kind": "Component",
        "resources": ["api.yaml"],
        "patches": [patch({"op": "replace", "path": "/spec", "value": "of the component"})],
    }
    listing = {
        "resources": ["../one"],
        "components": ["../api"],
        "patches": [
            patch({"op": "test", "path": "/spec", "value": "of the component"}),
            patch({"op": "add", "path": "/spec", "value": "own"}, name="api"),
        ],
    }
    files = {"two/kustomization.yaml": listing, "api/kustomization.yaml": component, "api/api.yaml": api}
    assert read({**ONE, **files}) == [{**SERVICE, "spec": "of the component"}, {**api, "spec": "own"}]


@pytest.mark.parametrize(
    ("listing", "why"),
    [
        ({"resources": ["../one/all.yaml"]}, "lists ../one/all.yaml, which is not in its folder"),
        ({"resources": ["../nowhere"]}, "lists ../nowhere, which is not in its folder"),
        ({"resources": ["empty"]}, "lists the folder empty, which has no kustomization.yaml"),
        ({"resources": ["../two"]}, "includes itself"),
        ({"resources": ["../back"]}, "includes itself, by .*back/kustomization.yaml"),
        ({"resources": ["../part"]}, "lists ../part under resources: a Component belongs under components"),
        ({"components": ["../one"]}, "lists ../one under components: a Component belongs under components"),
        ({"patches": [{"patch": "[]"}]}, "has a patch without a target"),
        ({"patches": [{**patch(), "target": {"kind": "Service"}}]}, "has a patch without a target"),
        ({"patches": [patch(), "text"]}, "there are 0 such objects"),
        ({"patches": [patch(name="other")]}, "a patch of Service other: there are 0 such objects"),
        ({"patches": [{**patch(), "patch": "spec: {}"}]}, "no list of operations of JSON Patch"),
        ({"patches": [{**patch(), "patch": "["}]}, "cannot be read"),
        ({"patches": [{"target": TARGET, "path": "../one/all.yaml"}]}, "which is not in its folder"),
        ({"patches": [{"target": TARGET, "path": "away.yaml"}]}, "lists away.yaml, which is not there"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(read, tmp_path, listing, why):
    (tmp_path / "two" / "empty").mkdir(parents=True)
    others = {
        "back/kustomization.yaml": {"resources": ["../two"]},
        "part/kustomization.yaml": {"kind": "Component"},
    }
    with pytest.raises(SpecError, match=why):
        read({**ONE, **others, "two/kustomization.yaml": listing})


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "path": "/spec/other", "value": 1},
        {"op": "replace", "path": "/spec/ports/2", "value": 1},
        {"op": "replace", "path": "/spec/ports/-1", "value": 1},
        {"op": "add", "path": "/spec/ports/3", "value": 1},
        {"op": "add", "path": "/other/ports", "value": 1},
        {"op": "add", "path": "/spec/ports"},
        {"op": "add", "path": "spec", "value": 1},
        {"op": "add", "path": "", "value": 1},
        {"op": "remove", "path": "/spec/ports/2"},
        {"op": "test", "path": "/spec/ports/0", "value": 2},
        {"op": "move", "path": "/spec/ports/0", "from": "/spec/ports/1"},
        {"path": "/spec/ports/0"},
        "text",
    ],
)
def test_an_operation_that_cannot_be_applied_is_refused(read, operation):
    with pytest.raises(SpecError, match="a patch of Service db that cannot be applied: "):
        read({**ONE, "two/kustomization.yaml": {"resources": ["../one"], "patches": [patch(operation)]}})
