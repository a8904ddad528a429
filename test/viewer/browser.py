"""A real browser without a display, for tests that look at pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = "needs Debian's chromium and chromium-driver (apt install chromium chromium-driver)"
PATIENCE = 120.0  # software graphics on a busy machine [s]
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
)  # fmt: skip


@contextmanager
def browser(profile: Path, width: int, height: int, scale: float = 1.0) -> Iterator[webdriver.Chrome]:
    """Chromium with software WebGL; its console is kept. ``scale``: pixels drawn for a pixel of the page."""
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER or ""
    for flag in (*FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}",
                 f"--force-device-scale-factor={scale}"):  # fmt: skip
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, Service(DRIVER))
    driver.set_script_timeout(PATIENCE)
    driver.set_page_load_timeout(PATIENCE)
    try:
        yield driver
    finally:
        driver.quit()


def errors(driver: webdriver.Chrome) -> list[str]:
    """What the console complained about since it was last asked; advice of the browser about listeners is no error."""
    said = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    return [message for message in said if "inside passive event listener" not in message]


def frame_rate(driver: webdriver.Chrome, seconds: float = 2.0) -> float:
    """Pictures the page draws in a second."""
    count = driver.execute_async_script(
        "const [ms, done] = arguments; let n = 0; const end = performance.now() + ms;"
        "const f = t => { n++; t < end ? requestAnimationFrame(f) : done(n) }; requestAnimationFrame(f)",
        1000 * seconds,
    )
    return float(count) / seconds


def text(driver: webdriver.Chrome, element: str) -> str:
    """What an element says now; the page replaces its elements all the time."""
    return str(driver.execute_script("return document.getElementById(arguments[0])?.innerText ?? ''", element))
