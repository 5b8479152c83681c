"""URNs are the engine's."""

from __future__ import annotations

import pytest

from offline import urn

STACK = "urn:pulumi:dev::pathways::pulumi:pulumi:Stack::pathways-dev"
OUTER = "urn:pulumi:dev::pathways::p:index:Outer::outer"
INNER = "urn:pulumi:dev::pathways::p:index:Outer$p:index:Inner::inner"


@pytest.mark.parametrize(
    ("parent", "type_", "name", "expected"),
    [
        ("", urn.STACK_TYPE, "pathways-dev", STACK),
        ("", "a:b:C", "n", "urn:pulumi:dev::pathways::a:b:C::n"),
        (STACK, "p:index:Outer", "outer", OUTER),
        (OUTER, "p:index:Inner", "inner", INNER),
        (INNER, "a:b:C", "x::y", "urn:pulumi:dev::pathways::p:index:Outer$p:index:Inner$a:b:C::x::y"),
    ],
)
def test_the_whole_chain_of_types_but_the_stack_is_in_a_urn(parent: str, type_: str, name: str, expected: str) -> None:
    made = urn.make("dev", "pathways", parent, type_, name)
    assert made == expected
    assert (urn.type_of(made), urn.name_of(made)) == (type_, name)


@pytest.mark.parametrize(
    ("type_", "package"), [("gcp:container/cluster:Cluster", "gcp"), ("pulumi:providers:kubernetes", "kubernetes")]
)
def test_a_type_names_its_package(type_: str, package: str) -> None:
    assert urn.package_of(type_) == package
