from __future__ import annotations

import yaml

from bookchunk_tests.golden import FILE, outputs, unversioned


def test_outputs_are_those_of_their_versions() -> None:
    golden = yaml.safe_load(FILE.read_text("utf-8"))
    now = outputs()
    assert not unversioned(golden, now), "an output changed: raise RULES in its module, then write the golden file anew"
    assert now == golden, "the rules are newer than the golden file: python -m bookchunk_tests.golden"


def test_a_change_without_a_version_is_told() -> None:
    golden = yaml.safe_load(FILE.read_text("utf-8"))
    changed = golden | {"chunks": golden["chunks"] | {"digest": "other"}}
    assert unversioned(golden, changed) == ["chunks"]
    raised = changed | {"chunks": {"rules": "another", "digest": "other"}}
    assert unversioned(golden, raised) == []
