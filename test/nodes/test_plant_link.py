"""What a controller takes a plant behind topics for, while it is still being discovered."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from humanoid_balance.nodes import motors
from humanoid_balance.nodes.motors import FOREIGN, UNHEARD, UNREPORTED, PlantLink
from humanoid_balance.nodes.waiting import DISCOVERY
from humanoid_balance.plants.ros.status import SILENCE, Motors, PlantStatus
from humanoid_balance.robot import registry


class Discovered:
    """What a node knows of the graph, and a clock that is set by hand."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.listeners, self.publishers, self.now = 0, 0, 100.0
        self.asked: list[str] = []  # services
        patch.setattr(motors.time, "monotonic", lambda: self.now)
        self.link = PlantLink(self, registry.load("g1"), "auto", SILENCE, lambda: self.listeners)  # type: ignore[arg-type]

    def count_publishers(self, _: str) -> int:
        return self.publishers

    def refuse(self, *_: Any) -> None:
        raise AssertionError

    def create_client(self, _: type, name: str, **__: Any) -> Any:
        granted = SimpleNamespace(done=lambda: True, result=lambda: SimpleNamespace(success=True, message=""))

        def call(_: Any) -> Any:
            self.asked.append(name)
            return granted

        return SimpleNamespace(
            srv_name=name, service_is_ready=lambda: True, call_async=call, remove_pending_request=lambda _: None
        )


@pytest.fixture
def graph_of(monkeypatch: pytest.MonkeyPatch) -> Discovered:
    return Discovered(monkeypatch)


def test_without_a_listener_there_is_no_plant(graph_of: Discovered) -> None:
    assert graph_of.link.missing() == UNHEARD


def test_a_plant_that_listens_may_be_about_to_report(graph_of: Discovered) -> None:
    """Its command topic is often discovered before its status; it is not driven as somebody else's meanwhile."""
    graph_of.listeners = 1
    assert graph_of.link.missing() == UNREPORTED
    graph_of.now += 0.9 * FOREIGN
    assert graph_of.link.missing() == UNREPORTED
    graph_of.publishers = 1  # found, nothing has come yet
    graph_of.now += FOREIGN
    assert graph_of.link.missing() == UNREPORTED
    report = PlantStatus("/hardware", "1", True, Motors.STOPPED)
    graph_of.link.on_status(report.message())
    assert graph_of.link.missing() == "" and graph_of.link.state is Motors.STOPPED


def test_an_effort_interface_that_never_reports_is_taken_as_it_is(graph_of: Discovered) -> None:
    graph_of.listeners = 1
    graph_of.link.missing()
    graph_of.now += 1.01 * FOREIGN
    assert graph_of.link.missing() == "" and graph_of.link.state is None
    graph_of.listeners = 0  # gone; the next one is looked at anew
    assert graph_of.link.missing() == UNHEARD
    graph_of.listeners = 1
    assert graph_of.link.missing() == UNREPORTED


def test_a_reset_waits_for_a_plant_that_is_not_discovered_yet(graph_of: Discovered) -> None:
    """It was granted before, as if there were no motors: the boards stayed stopped, and arm was refused for good."""
    reset = graph_of.link.release()
    reset.send(None)
    reset.send(None)
    assert not graph_of.asked
    graph_of.listeners = 1
    reset.send(None)
    graph_of.link.on_status(PlantStatus("/hardware", "1", True, Motors.STOPPED).message())
    with pytest.raises(StopIteration) as ended:
        for _ in range(10):
            reset.send(None)
    assert ended.value.value == "" and graph_of.asked == ["/hardware/reset"]


def test_a_reset_without_any_plant_is_refused_with_what_to_do(graph_of: Discovered) -> None:
    reset = graph_of.link.release()
    reset.send(None)
    graph_of.now += DISCOVERY + 0.1
    with pytest.raises(StopIteration) as ended:
        reset.send(None)
    assert ended.value.value == UNHEARD
