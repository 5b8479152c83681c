from __future__ import annotations

import socket

import pytest

from tests.workflows.conftest import NOW, Time
from tests.workflows.server import Fault, GitHub
from workflows.comments import Done, Sticky
from workflows.errors import WorkflowError
from workflows.github import Client, RequestError

MARKER = "<!-- mark -->"
BODY = f"{MARKER}\nnew"


@pytest.fixture
def sticky(client: Client) -> Sticky:
    return Sticky(client, "acme/pathways", 7, MARKER)


def bodies(hub: GitHub) -> list[str]:
    return [each["body"] for each in hub.comments]


def test_the_first_comment_is_created(hub: GitHub, sticky: Sticky) -> None:
    hub.add_comment("what a person says", login="ada")
    assert sticky.write(BODY) is Done.CREATED
    assert bodies(hub) == ["what a person says", BODY]


def test_the_old_comment_is_edited_wherever_it_stands(hub: GitHub, sticky: Sticky) -> None:
    for number in range(70):
        hub.add_comment(f"comment {number}", login="ada")
    old = hub.add_comment(f"{MARKER}\nold")
    hub.add_comment("last", login="ada")
    assert sticky.write(BODY) is Done.EDITED
    assert old["body"] == BODY
    assert len(hub.comments) == 72
    pages = hub.asked("GET")
    assert len(pages) == 3, "72 comments are three pages of 30"
    assert all("per_page=100" in page for page in pages)


def test_a_comment_that_says_it_already_is_left_alone(hub: GitHub, sticky: Sticky) -> None:
    hub.add_comment(f"{MARKER}\r\nnew\r\n")
    assert sticky.write(BODY) is Done.UNCHANGED
    assert hub.asked("PATCH") == hub.asked("POST") == []


@pytest.mark.parametrize(
    ("body", "login"),
    [
        (f"{MARKER}\nold", "ada"),
        (f"{MARKER}\nold", "other-app[bot]"),
        (f"quoted: {MARKER}\nold", "github-actions[bot]"),
        ("", "github-actions[bot]"),
    ],
)
def test_nobody_else_s_comment_is_taken_for_ours(hub: GitHub, sticky: Sticky, body: str, login: str) -> None:
    hub.add_comment(body, login)
    assert sticky.write(BODY) is Done.CREATED
    assert bodies(hub) == [body, BODY]


def test_a_comment_of_a_deleted_account_is_passed_over(hub: GitHub, sticky: Sticky) -> None:
    hub.add_comment(f"{MARKER}\nold")["user"] = None
    assert sticky.write(BODY) is Done.CREATED


def test_without_create_only_an_old_comment_is_edited(hub: GitHub, sticky: Sticky) -> None:
    assert sticky.write(BODY, create=False) is Done.ABSENT
    assert hub.comments == []
    hub.add_comment(f"{MARKER}\nold")
    assert sticky.write(BODY, create=False) is Done.EDITED


@pytest.mark.parametrize(
    ("body", "said"),
    [("no mark", "does not begin"), (MARKER + "x" * (65_537 - len(MARKER)), "65,537 characters; GitHub takes 65,536")],
)
def test_a_body_that_cannot_be_a_comment_is_not_sent(hub: GitHub, sticky: Sticky, body: str, said: str) -> None:
    with pytest.raises(WorkflowError, match=said):
        sticky.write(body)
    assert hub.seen == []


def test_a_body_of_the_greatest_length_is_sent(hub: GitHub, sticky: Sticky) -> None:
    assert sticky.write(MARKER + "ü" * (65_536 - len(MARKER))) is Done.CREATED
    assert len(hub.comments[0]["body"]) == 65_536


def test_a_403_says_which_permission_is_missing(hub: GitHub, sticky: Sticky, time: Time) -> None:
    hub.faults = [Fault(403, message="Resource not accessible by integration", method="POST")]
    with pytest.raises(RequestError, match=r"403 Resource not accessible by integration; .*pull-requests: write"):
        sticky.write(BODY)
    assert hub.comments == []
    assert time.slept == []


@pytest.mark.parametrize("status", [500, 502, 503, 504, 0])
def test_a_fault_while_looking_is_tried_again(hub: GitHub, sticky: Sticky, time: Time, status: int) -> None:
    hub.add_comment(f"{MARKER}\nold")
    hub.faults = [Fault(status), Fault(status, method="PATCH")]
    assert sticky.write(BODY) is Done.EDITED
    assert bodies(hub) == [BODY]
    assert len(time.slept) == 2


def test_faults_without_end_are_an_error(hub: GitHub, sticky: Sticky, time: Time) -> None:
    hub.faults = [Fault(503, message="Unicorn") for _ in range(20)]
    with pytest.raises(RequestError, match="503 Unicorn; a fault of the server; run the job again"):
        sticky.write(BODY)
    assert 5 <= len(time.slept) < 10
    assert time.slept[:-1] == sorted(time.slept[:-1]), "each wait is longer than the one before"


@pytest.mark.parametrize("done", [True, False])
def test_a_creation_whose_answer_is_lost_is_not_made_twice(hub: GitHub, sticky: Sticky, done: bool) -> None:
    hub.faults = [Fault(502, method="POST", done=done)]
    result = sticky.write(BODY)
    assert bodies(hub) == [BODY]
    assert result is (Done.UNCHANGED if done else Done.CREATED)
    assert len(hub.asked("POST")) == (1 if done else 2)


def test_creations_that_always_fail_are_an_error(hub: GitHub, sticky: Sticky) -> None:
    hub.faults = [Fault(502, method="POST") for _ in range(20)]
    with pytest.raises(RequestError, match="502"):
        sticky.write(BODY)
    assert len(hub.asked("POST")) == 4


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(
    ("headers", "message", "waits"),
    [
        ({"Retry-After": "17"}, "", [17.0]),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) + 90)}, "", [91.0]),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) - 5)}, "", [1.0]),
        ({"Retry-After": "3", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) + 90)}, "", [3.0]),
        ({}, "You have exceeded a secondary rate limit. Please wait", [60.0]),
    ],
)
def test_a_limit_is_waited_out(
    hub: GitHub, sticky: Sticky, time: Time, *, status: int, headers: dict[str, str], message: str, waits: list[float]
) -> None:
    hub.faults = [Fault(status, headers, message, method="POST")]
    assert sticky.write(BODY) is Done.CREATED
    assert time.slept == waits
    assert bodies(hub) == [BODY]


def test_secondary_limits_in_a_row_are_waited_for_longer_and_longer(hub: GitHub, sticky: Sticky, time: Time) -> None:
    hub.faults = [Fault(403, message="secondary rate limit") for _ in range(3)]
    sticky.write(BODY)
    assert time.slept == [60.0, 120.0, 240.0]


def test_patience_ends(hub: GitHub, sticky: Sticky, time: Time) -> None:
    hub.faults = [Fault(429, {"Retry-After": "3600"})]
    with pytest.raises(RequestError, match="asks to wait 3600 s more, and 600 s is the limit"):
        sticky.write(BODY)
    assert time.slept == []


def test_remaining_requests_are_no_limit(hub: GitHub, sticky: Sticky) -> None:
    hub.faults = [Fault(403, {"X-RateLimit-Remaining": "4999", "X-RateLimit-Reset": str(int(NOW) + 90)}, "forbidden")]
    with pytest.raises(RequestError, match="403 forbidden"):
        sticky.write(BODY)


@pytest.mark.parametrize(
    ("status", "said"),
    [(401, "pass GITHUB_TOKEN"), (404, "no such thing"), (410, "not understood"), (422, "does not take")],
)
def test_a_refusal_is_put_into_words(hub: GitHub, sticky: Sticky, status: int, said: str) -> None:
    hub.faults = [Fault(status)]
    with pytest.raises(RequestError, match=said) as caught:
        sticky.write(BODY)
    assert caught.value.status == status


def test_the_token_does_not_follow_a_redirect(hub: GitHub, sticky: Sticky) -> None:
    hub.faults = [Fault(301, {"Location": f"{hub.storage_url}/steal"})]
    with pytest.raises(RequestError):
        sticky.write(BODY)
    assert hub.storage == []


def test_the_token_does_not_follow_a_page_to_another_host(hub: GitHub, sticky: Sticky) -> None:
    hub.elsewhere = hub.storage_url
    for _ in range(40):
        hub.add_comment("x", login="ada")
    with pytest.raises(RequestError, match="the token is for that one only"):
        sticky.write(BODY)
    assert hub.storage == []


def test_pages_without_end_are_an_error(hub: GitHub, sticky: Sticky) -> None:
    hub.page = 1
    for _ in range(120):
        hub.add_comment("x", login="ada")
    with pytest.raises(RequestError, match="more than 100 pages"):
        sticky.write(BODY)


def test_a_server_that_is_not_there_is_an_error(time: Time) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        client = Client(f"http://127.0.0.1:{taken.getsockname()[1]}", "t", sleep=time.sleep, clock=time.clock)
        with pytest.raises(RequestError, match="no answer from GitHub"):
            Sticky(client, "acme/pathways", 7, MARKER).write(BODY)


def test_the_token_is_in_no_message(client: Client) -> None:
    assert client.token not in repr(client)
