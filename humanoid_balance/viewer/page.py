"""The live page: a web server that shows one running robot to every visitor, and lets them walk and push it."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
import viser

from humanoid_balance.figures import palette
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings
from humanoid_balance.viewer.charts import Charts
from humanoid_balance.viewer.panel import Panel, first_force, put
from humanoid_balance.viewer.rewind import History
from humanoid_balance.viewer.server import PageServer
from humanoid_balance.viewer.session import Pull, Snapshot
from humanoid_balance.viewer.simulation import Hold, Simulation
from humanoid_balance.viewer.stage import Scene

RATE = 30.0  # pictures a second
CHART_EVERY, TELL_EVERY = 0.15, 0.2  # [s]
TITLE = "humanoid_balance"


class Page:
    """Runs until it is interrupted."""

    def __init__(self, settings: RunSettings, host: str, port: int) -> None:
        self.robot = registry.load(settings.robot)
        self.simulation = Simulation(settings)
        self.server = PageServer(host, port, TITLE)
        self.server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium")
        self.server.gui.main_panel.dock_right()
        self.panel = Panel(self.server, settings, self.robot)
        self.history = History()
        board = self.server.gui.add_panel()
        with board.add_tab("Charts", viser.Icon.CHART_LINE):
            self.charts = Charts(self.server.gui, 0.001)
        board.dock_left()
        board.set_width(360)
        self.stage: Scene | None = None
        self.generation = -1
        self._dial()

    @property
    def address(self) -> str:
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    def close(self) -> None:
        self.simulation.close()
        self.server.stop()

    def run(self) -> None:
        """Show picture after picture."""
        drawn = told = 0.0
        while True:
            start = time.monotonic()
            now = self.simulation.exchange(self.panel.wishes())
            if now.generation != self.generation:
                self._set_stage(now)
            self.show(now)
            self.panel.status.hear(now.notice)
            if start - drawn > CHART_EVERY:
                drawn = start
                self.charts.draw()
            if start - told > TELL_EVERY:
                told = start
                self.panel.tell(replace(now, moment=self.shown), self._velocity())
            time.sleep(max(0.001, 1.0 / RATE - (time.monotonic() - start)))

    def show(self, now: Snapshot) -> None:
        """The present in the scene, and kept for the charts."""
        stage, panel = self.stage, self.panel
        assert stage is not None
        self.charts.add(now.rows)
        self.history.add(now.moment)
        if panel.play:  # toward the present, at the speed that is chosen
            put(panel.ago, max(0.0, panel.ago.value - panel.speed.value / RATE))
            panel.play = panel.ago.value > 0.0
        self.shown = self.history.ago(panel.ago.value) if panel.ago.value else now.moment
        with self.server.atomic():
            stage.look(panel.follow.value, panel.translucent.value, panel.forces.value, panel.inertia.value)
            stage.show(self.shown)
            self.dial.position = stage.ground(self.shown.com) - stage.anchor

    def _velocity(self) -> float:
        """Over ground, over the last second [m/s]."""
        now, before = self.history.ago(0.0), self.history.ago(1.0)
        return float(np.linalg.norm((now.com - before.com)[:2])) / max(now.time - before.time, 0.1)

    # ---- the robot and its ground ----

    def _set_stage(self, now: Snapshot) -> None:
        """Another robot or another ground."""
        if self.stage is not None:
            self.stage.close()
        settings = now.settings
        if settings.robot != self.robot.spec:
            self.robot = registry.load(settings.robot)
            put(self.panel.force, first_force(self.robot.mass))
        self.panel.meet(self.robot, now.abilities)
        self.charts.clear()
        self.history.clear()
        self.stage = Scene(self.server, self.robot, settings.world)
        self._make_draggable(self.stage)
        self.stage.look_from(self.server.initial_camera)
        for client in self.server.get_clients().values():
            self.stage.look_from(client.camera)
        self.generation = now.generation

    def _make_draggable(self, stage: Scene) -> None:
        for part in stage.parts:
            part.on_drag("left")(self._drag)

    async def _drag(self, event: Any) -> None:
        """A hand on the body: it holds the point where it took hold, until it lets go.

        Viser runs coroutines in the order of the events; functions would overtake each other.
        """
        stage = self.stage
        link = None if stage is None else stage.link_of(event.target.name)
        if stage is None or link is None:
            return
        if event.phase == "start":
            self._grip = link, tuple(stage.local(link, stage.world(np.array(event.start_position))).tolist())
        if event.phase == "end":
            self.panel.wish(Hold(None))
        else:
            x, y, z = stage.world(np.array(event.end_position)).tolist()
            self.panel.wish(Hold(Pull(*self._grip, target=(x, y, z))))

    # ---- the dial ----

    def _dial(self) -> None:
        """A ring on the ground that turns with the direction slider, and the slider with it."""
        size, scene = self.robot.com_height, self.server.scene
        self.dial = scene.add_frame("/dial", show_axes=False)
        ring = scene.add_transform_controls(
            "/dial/ring", scale=0.45 * size, disable_axes=True, disable_sliders=True, active_axes=(True, True, False),
            line_width=4.0, depth_test=False, opacity=0.6,
        )  # fmt: skip
        arrow = np.array([[[0.42 * size, 0.0, 0.01], [0.62 * size, 0.0, 0.01]]])
        colour = np.array(palette.rgb(palette.FORCE))
        scene.add_arrows("/dial/ring/arrow", arrow, colour, shaft_radius=0.012 * size, head_radius=0.035 * size)
        slider = self.panel.direction

        def turned(_: Any) -> None:
            w, _x, _y, z = ring.wxyz
            put(slider, round(math.degrees(2 * math.atan2(z, w))) % 360)

        def set_to(_: Any) -> None:
            half = math.radians(slider.value) / 2
            ring.wxyz = (math.cos(half), 0.0, 0.0, math.sin(half))

        ring.on_update(turned)
        slider.on_update(lambda event: set_to(event) if event.client is not None else None)
