"""A real browser on the real UI: Debian's Chromium, headless, driven by selenium; pictures are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from bookchunk_tests.system.served import ROOT, until
from bookchunk_tests.system.servers import program

PICTURES = ROOT / "build" / "pictures"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1600,1000",
)  # fmt: skip


class Browser:
    """Pages of one server, looked at as a person does."""

    def __init__(self, driver: webdriver.Chrome, address: str) -> None:
        self.driver, self.address = driver, address

    def open(self, path: str) -> None:
        self.driver.get(self.address + path)

    def text(self) -> str:
        try:
            return self.driver.find_element(By.TAG_NAME, "body").text
        except WebDriverException:  # the page is being made
            return ""

    def until_shown(self, *texts: str) -> None:
        until(f"{texts} on {self.driver.current_url}", lambda: all(text in self.text() for text in texts))

    def click(self, *texts: str) -> None:
        """Click the button or link that bears one of these texts, once it is there."""
        until(f"a click on {texts}", lambda: self._clicked(texts))

    def picture(self, name: str) -> Path:
        PICTURES.mkdir(parents=True, exist_ok=True)
        path = PICTURES / f"{name}.png"
        assert self.driver.save_screenshot(str(path))
        return path

    def _clicked(self, texts: tuple[str, ...]) -> bool:
        for element in self.driver.find_elements(By.CSS_SELECTOR, "button, a, [role=menuitem], [role=tab]"):
            try:
                if element.text.strip() in texts and element.is_enabled() and self._click(element):
                    return True
            except StaleElementReferenceException:
                continue
        return False

    def _click(self, element: WebElement) -> bool:
        try:
            element.click()
        except WebDriverException:  # something moves over it
            return False
        return True


@contextmanager
def browse(address: str, profile: Path) -> Iterator[Browser]:
    """A browser with a profile of its own, ended with its driver."""
    options = webdriver.ChromeOptions()
    options.binary_location = program("chromium", "chromium")
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options, webdriver.ChromeService(program("chromedriver", "chromium-driver")))
    driver.set_page_load_timeout(120)
    try:
        yield Browser(driver, address)
    finally:
        driver.quit()
