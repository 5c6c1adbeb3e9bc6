import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Browser, type BrowserPage, startChromium } from "#test/support/chromium.ts";
import { TEST_KEY, type TestEdge } from "../../services/edge/testing/test-edge.ts";
import { booksEdge } from "./support/books-edge.ts";
import { CHROMIUM, type ConsolePage, isSkipped, openConsole } from "./support/console-page.ts";

describe.skipIf(isSkipped)("in a Chromium, where the machine has one,", { timeout: 120_000 }, () => {
  let browser: Browser;
  let edge: TestEdge;
  let url: string;
  let tab: ConsolePage;
  beforeAll(async () => {
    browser = await startChromium(CHROMIUM);
    edge = await booksEdge({ days: 30, rows: 20 });
    url = await edge.app.listen({ host: "127.0.0.1", port: 0 });
  });
  beforeEach(async () => {
    tab = await openConsole(browser, url);
    await tab.signIn(TEST_KEY);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await edge.app.close();
  });

  test.each([
    ["fee-runs", "Alpha Strategy", ".filters a", "#/fee-runs?master_login=3000001"],
    ["masters/3000001", "90 days", ".period .filters a", "#/masters/3000001/performance?"],
    ["masters/3000001", "By result", "nav.filters a", "by=result"],
    ["investors/3000003/statement", "30 days", ".period .filters a", "#/investors/3000003/statement?"],
  ])("on %s the focus stays on the link of %s that was chosen", async (address, text, selector, chosen) => {
    await tab.go(address);
    await tab.shows(text);
    await tab.page.evaluate(
      `[...document.querySelectorAll("${selector}")].find((one) => one.textContent === "${text}").focus()`,
    );
    await pressEnter(tab.page);
    await expect.poll(() => tab.page.evaluate("location.hash")).toContain(chosen);
    await expect.poll(() => tab.page.evaluate("document.activeElement.ariaCurrent")).toBe("true");
    expect(await tab.page.evaluate("document.activeElement.textContent")).toBe(text);
  });

  test.each([
    ["fee-runs", "master_login", "3000001"],
    ["masters", "name", "Alp"],
    ["investors", "name", "Ad"],
    ["operations", "comment", "CRM-1"],
  ])("on %s the focus stays in the field %s after a search, and the address fills it", async (address, name, text) => {
    await tab.go(address);
    await tab.fill(`input[name=${name}]`, text);
    await pressEnter(tab.page);
    await expect.poll(() => tab.page.evaluate("location.hash")).toContain(`${name}=${text}`);
    await tab.go(`${address}?${name}=${text}`);
    expect(await tab.page.evaluate("[document.activeElement.name, document.activeElement.value]")).toEqual([
      name,
      text,
    ]);

    await tab.go(`${address}?${name}=${text}2`);
    const value = `document.querySelector("input[name=${name}]").value`;
    await expect.poll(() => tab.page.evaluate(value)).toBe(`${text}2`);
    expect(tab.page.complaints).toEqual([]);
  });
});

async function pressEnter(page: BrowserPage): Promise<void> {
  const key = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" };
  await page.call("Input.dispatchKeyEvent", { ...key, type: "keyDown" });
  await page.call("Input.dispatchKeyEvent", { ...key, type: "keyUp" });
}
