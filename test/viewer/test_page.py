"""The live page in a real browser: it shows the robot, and the robot feels the visitor."""

from __future__ import annotations

import importlib.util
import io
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

if importlib.util.find_spec("selenium") is None:
    pytest.skip("needs selenium, which the extra 'test' brings", allow_module_level=True)

from selenium.webdriver import ActionChains

sys.path.insert(0, str(Path(__file__).parent))
from browser import BROWSER, DRIVER, MISSING, PATIENCE, browser, errors, frame_rate, text

pytestmark = pytest.mark.skipif(BROWSER is None or DRIVER is None, reason=MISSING)

SCALE = 0.5  # of the pixels


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A running ``humanoid-balance live``."""
    command = [sys.executable, "-m", "humanoid_balance.cli", "live", "--no-browser", "--port", "0"]
    # A test run in the background ignores the interrupt; the process under test must not inherit that.
    heed = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=heed)
    assert process.stdout is not None
    yield process.stdout.readline().split()[0]
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130


@pytest.fixture(scope="module")
def page(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Small and coarse, so that software graphics draw it fast enough."""
    with browser(tmp_path_factory.mktemp("profile"), 1000, 560, SCALE) as driver:
        driver.get(address)
        wait_for(lambda: text(driver, "mode") != "", "the page to load")
        wait_for(lambda: body(driver)[1] > 100, "the robot to appear")
        yield driver
        assert errors(driver) == []


def wait_for(true: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"waited {PATIENCE:g} s for {what}"
        time.sleep(0.05)


def body(page: Any) -> tuple[float, int]:
    """Where the skin-coloured pixels are, from the left [pixel], and how many there are."""
    picture = np.asarray(Image.open(io.BytesIO(page.get_screenshot_as_png())).convert("RGB")).astype(int)
    scene = picture[:, round(365 * SCALE) : -round(330 * SCALE)]
    skin = (scene[..., 0] - scene[..., 2] > 25) & (scene[..., 0] > scene[..., 1])
    columns = np.flatnonzero(skin) % scene.shape[1]
    return float(columns.mean()) if columns.size else 0.0, int(columns.size)


def press(page: Any, label: str) -> None:
    """Press a button by its label."""
    found = page.execute_script(
        "const b = [...document.querySelectorAll('button')].find(b => b.innerText.trim() === arguments[0]);"
        "b?.click(); return b != null",
        label,
    )
    assert found, label


def charts(page: Any) -> list[str]:
    """Pixels of every chart."""
    return list(page.execute_script("return [...document.querySelectorAll('.uplot canvas')].map(c => c.toDataURL())"))


def force(page: Any) -> float:
    found = re.search(r"push (\d+) N", text(page, "pace"))
    return float(found.group(1)) if found else 0.0


def stand(page: Any) -> None:
    """Anew: nothing has happened yet."""
    press(page, "Reset")
    wait_for(lambda: text(page, "mode") == "stable" and changes(page) == "" and force(page) == 0.0, "standing")


def changes(page: Any) -> str:
    """The changes of mode, with their reasons. They stay, while a mode may be over before a slow page shows it."""
    return text(page, "changes").strip()


def test_pushing_by_button_moves_the_robot_and_the_mode_is_told(page: Any) -> None:
    stand(page)
    still, _ = body(page)
    ActionChains(page).send_keys("m").perform()  # slow motion, for browsers that draw slowly
    press(page, "PUSH")
    wait_for(lambda: "in place" in changes(page), "another mode")
    wait_for(lambda: abs(body(page)[0] - still) > 2, "the robot to move")
    ActionChains(page).send_keys("m").perform()


def test_all_charts_move(page: Any) -> None:
    stand(page)
    before = charts(page)
    assert len(before) == 4
    press(page, "PUSH")
    wait_for(lambda: all(a != b for a, b in zip(before, charts(page), strict=True)), "all charts to move")


def test_keys_push(page: Any) -> None:
    stand(page)
    ActionChains(page).send_keys("k").perform()  # backward, where the feet are short
    wait_for(lambda: "in place" in changes(page), "another mode")


def test_a_drag_on_the_body_pulls_until_it_is_let_go(page: Any) -> None:
    stand(page)
    left, top, width, height = page.execute_script(
        "const r = document.querySelector('canvas[data-engine]').getBoundingClientRect();"
        "return [r.x, r.y, r.width, r.height]"
    )
    hand = ActionChains(page, duration=50)
    hand.w3c_actions.pointer_action.move_to_location(round(left + width / 2), round(top + height / 2))
    hand.click_and_hold().move_by_offset(12, 0).move_by_offset(12, 0).perform()
    wait_for(lambda: force(page) > 5.0, "the hand to be felt")
    ActionChains(page).release().perform()
    wait_for(lambda: force(page) == 0.0, "the hand to let go")


def test_pause_and_slow_motion(page: Any) -> None:
    ActionChains(page).send_keys("p").perform()
    wait_for(lambda: "paused" in text(page, "pace"), "the pause")
    first = text(page, "pace").split(" s")[0]
    time.sleep(0.6)
    assert text(page, "pace").split(" s")[0] == first
    ActionChains(page).send_keys("p").perform()
    wait_for(lambda: text(page, "pace").split(" s")[0] != first, "time to go on")


def speed(page: Any) -> float:
    found = re.search(r"walks ([\d.]+) m/s", text(page, "pace"))
    return float(found.group(1)) if found else 0.0


def test_keys_walk_and_the_robot_stays_in_the_picture(page: Any) -> None:
    stand(page)
    still, _ = body(page)
    ActionChains(page).key_down("w").perform()
    try:
        wait_for(lambda: text(page, "mode") == "walking" and speed(page) > 0.3, "walking")
        wait_for(lambda: travelled(page) > 1.5, "a walk of 1.5 m")  # 180 pixels
        assert abs(body(page)[0] - still) < 40
    finally:
        ActionChains(page).key_up("w").perform()
    wait_for(lambda: text(page, "mode") == "stable", "standing")


def travelled(page: Any) -> float:
    """How far the robot is from where it began, as the picture followed it [m]."""
    found = re.search(r"at ([-\d.]+) m", text(page, "pace"))
    return abs(float(found.group(1))) if found else 0.0


def test_a_knob_that_is_dragged_turns_the_robot_until_it_is_let_go(page: Any) -> None:
    stand(page)
    knob = page.find_element("id", "turn-knob")
    hand = ActionChains(page, duration=50)
    hand.click_and_hold(knob).move_by_offset(-25, 0).perform()
    wait_for(lambda: text(page, "mode") == "walking", "turning")
    ActionChains(page).release().perform()
    wait_for(lambda: text(page, "mode") == "stable", "standing")


def test_the_browser_counts_its_own_frames(page: Any) -> None:
    wait_for(lambda: re.fullmatch(r"\d+ frames/s drawn here", text(page, "frames")) is not None, "frames to be counted")


def test_the_past_can_be_looked_at_and_the_present_comes_back(page: Any) -> None:
    stand(page)
    press(page, "PUSH")
    wait_for(lambda: "in place" in changes(page), "an answer")
    press(page, "Play again")  # the last 5 s, in which it was pushed
    wait_for(lambda: "s ago" in text(page, "pace"), "the past")
    wait_for(lambda: "paused" in text(page, "pace"), "the present")
    ActionChains(page).send_keys("p").perform()
    wait_for(lambda: "real time" in text(page, "pace"), "time to go on")


def open_tab(page: Any, name: str) -> None:
    tab = next(tab for tab in page.find_elements("css selector", "[role=tab]") if tab.text.strip() == name)
    ActionChains(page).click(tab).perform()


def purple(page: Any) -> int:
    """Pixels of the boxes of inertia."""
    picture = np.asarray(Image.open(io.BytesIO(page.get_screenshot_as_png())).convert("RGB")).astype(int)
    scene = picture[:, round(365 * SCALE) : -round(330 * SCALE)]
    return int(((scene[..., 2] - scene[..., 1] > 25) & (scene[..., 0] - scene[..., 1] > 10)).sum())


def test_switches_show_what_is_inside_the_body(page: Any) -> None:
    stand(page)
    before = purple(page)
    open_tab(page, "Look")
    wait_for(lambda: "Translucent body" in page.find_element("tag name", "body").text, "the switches")
    switch = "[...document.querySelectorAll('label')].find(l => l.innerText === 'Inertia').getAttribute('for')"
    page.execute_script(f"document.getElementById({switch}).click()")
    wait_for(lambda: purple(page) > before + 100, "boxes of inertia")
    page.execute_script(f"document.getElementById({switch}).click()")
    wait_for(lambda: purple(page) < before + 50, "a solid body again")
    open_tab(page, "Drive")
    wait_for(lambda: "PUSH" in page.find_element("tag name", "body").text, "the controls to push")


def test_no_reason_is_cut_off(page: Any) -> None:
    stand(page)
    press(page, "PUSH")
    wait_for(lambda: "in place" in changes(page), "a change")
    width, shown = page.execute_script(
        "const e = document.getElementById('changes'); return [e.scrollWidth, e.clientWidth]"
    )
    assert width <= shown


@pytest.mark.slow
def test_twenty_pictures_a_second_while_the_loop_keeps_real_time(address: str, tmp_path: Path) -> None:
    """On a machine that has nothing else to do; two cores draw, serve and control."""
    with browser(tmp_path / "profile", 1000, 560) as alone:
        alone.get(address)
        wait_for(lambda: text(alone, "mode") == "stable", "the page to load")
        time.sleep(5.0)
        assert max(frame_rate(alone) for _ in range(5)) >= 20.0
        pace = re.search(r"([\d.]+) × real time", text(alone, "pace"))
        assert pace is not None and float(pace.group(1)) > 0.95
