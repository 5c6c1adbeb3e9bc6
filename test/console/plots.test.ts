import { describe, expect, test } from "vitest";
import type { BrowserPage } from "#test/support/chromium.ts";
import { SPIKE } from "./support/books.ts";
import { isSkipped } from "./support/console-page.ts";
import { consoleTabs, expectQuiet } from "./support/console-tabs.ts";

describe.skipIf(isSkipped)("in a Chromium, where the machine has one,", { timeout: 240_000 }, () => {
  const { signedInToBooks } = consoleTabs();

  test("the page draws a plot for each measure, with the day that stands out, and 100,000 points from end to end", async () => {
    const tab = await signedInToBooks({ days: 10, rows: 0 });
    await tab.go("masters/3000001");
    await expect.poll(() => tab.page.evaluate<number>(DRAWN)).toBe(4);
    const label = await tab.page.evaluate<string>(FIRST_LABEL);
    expect(label).toContain("10 values from");
    expect(label).toContain("highest 3.00");
    expectWhole(await tab.page.evaluate(INK), 10);
    expect(await tab.page.evaluate<number>(drawing(100_000))).toBeLessThan(20_000);
    expectWhole(await tab.page.evaluate(INK), 100_000);
    expectQuiet(tab);
  });

  test("a Master that began to trade today is drawn by result, until days are asked for", async () => {
    const tab = await signedInToBooks({ days: 1, rows: 700 });
    await tab.go("masters/3000001");
    await tab.shows("Result of each deal");
    await expect.poll(() => tab.page.evaluate<number>(DRAWN)).toBe(4);
    const label = await tab.page.evaluate<string>(FIRST_LABEL);
    expect(label).toContain("500 values from");
    await tab.shows("The newest 500 are drawn");
    await expect
      .poll(async () => (await tab.page.evaluate(SCROLL), await tab.page.evaluate<string>(FIRST_LABEL)))
      .toContain("700 values from");
    await tab.click(".filters a", "By day");
    await tab.shows("Results by day");
    expectQuiet(tab);
  });

  test("a plot is a table too, and the focus stays on the link and in the field with which a view was chosen", async () => {
    const tab = await signedInToBooks({ days: 30, rows: 100_000 });
    await tab.go("investors/3000003/statement?from=2026-01-01&to=2026-12-01");
    await tab.shows("Balance so far");
    await tab.click(".plot button", "Table");
    await tab.shows("500.00");

    for (const [address, text, selector, chosen] of [
      ["fee-runs", "Alpha Strategy", ".filters a", "#/fee-runs?master_login=3000001"],
      ["masters/3000001", "90 days", ".period .filters a", "#/masters/3000001/performance?"],
    ] as const) {
      await tab.go(address);
      await tab.shows(text);
      await tab.page.evaluate(
        `[...document.querySelectorAll("${selector}")].find((one) => one.textContent === "${text}").focus()`,
      );
      await pressEnter(tab.page);
      await expect.poll(() => tab.page.evaluate("location.hash")).toContain(chosen);
      await expect.poll(() => tab.page.evaluate("document.activeElement.ariaCurrent")).toBe("true");
      expect(await tab.page.evaluate("document.activeElement.textContent")).toBe(text);
    }
    await tab.go("operations");
    await tab.fill("input[name=comment]", "CRM-1");
    await pressEnter(tab.page);
    await expect.poll(() => tab.page.evaluate("location.hash")).toContain("comment=CRM-1");
    await tab.go("operations?comment=CRM-1");
    const field = "[document.activeElement.name, document.activeElement.value]";
    expect(await tab.page.evaluate(field)).toEqual(["comment", "CRM-1"]);
    await tab.go("operations?comment=CRM-2");
    await expect.poll(() => tab.page.evaluate("document.querySelector('input[name=comment]').value")).toBe("CRM-2");
    expectQuiet(tab);
  });
});

async function pressEnter(page: BrowserPage): Promise<void> {
  const key = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" };
  await page.call("Input.dispatchKeyEvent", { ...key, type: "keyDown" });
  await page.call("Input.dispatchKeyEvent", { ...key, type: "keyUp" });
}

type Ink = { readonly left: number; readonly right: number; readonly top: number };

function expectWhole({ left, right, top }: Ink, count: number): void {
  expect(left).toBeLessThan(0.03);
  expect(right).toBeGreaterThan(0.97);
  expect(Math.abs(top - Math.floor(count * SPIKE) / (count - 1))).toBeLessThan(0.02);
}

/** Draws with the code of the page, in place of its first plot, and says how long it took. */
const drawing = (count: number): string => `(async () => {
  const { name } = performance.getEntriesByType("resource").find((one) => /assets\\/draw-/.test(one.name));
  const { draw } = await import(name);
  const host = document.querySelector(".canvas");
  host.replaceChildren();
  const times = Array.from({ length: ${count} }, (_, index) => 1_700_000_000 + index * 60);
  const values = times.map((_, index) => index === Math.floor(${count} * ${SPIKE}) ? 3 : 1 + Math.sin(index / 9) / 10);
  const series = [{ title: "NAV per unit", kind: "line", tone: "accent", show: String }];
  const began = performance.now();
  draw(host, { series, positions: [times, values], axis: "amount", point: () => {} });
  await new Promise(requestAnimationFrame);
  return performance.now() - began;
})()`;

const FIRST_LABEL = "document.querySelector('.canvas').getAttribute('aria-label')";
const SCROLL = "for (const one of document.querySelectorAll('main, .scroller')) one.scrollTop = 1e9";
const DRAWN = "document.querySelectorAll('.canvas canvas').length";

/** Where the line of the first plot is, as parts of the width of its area: its ends, and its highest place. */
const INK = `(() => {
  const canvas = document.querySelector(".canvas canvas");
  const over = document.querySelector(".canvas .u-over");
  const scale = canvas.width / canvas.clientWidth;
  const [left, top, width, height] = [over.offsetLeft, over.offsetTop, over.offsetWidth, over.offsetHeight].map((px) => Math.round(px * scale));
  const { data } = canvas.getContext("2d").getImageData(left, top, width, height);
  const accent = [0x1f, 0x5f, 0x8b];
  const isInk = (x, y) => accent.every((part, index) => Math.abs(data[(y * width + x) * 4 + index] - part) < 60) && data[(y * width + x) * 4 + 3] > 80;
  const columns = [];
  let highest = { x: 0, y: height };
  for (let x = 0; x < width; x += 1)
    for (let y = 0; y < height; y += 1)
      if (isInk(x, y)) {
        if (columns.at(-1) !== x) columns.push(x);
        if (y < highest.y) highest = { x, y };
      }
  return { left: columns[0] / width, right: columns.at(-1) / width, top: highest.x / width };
})()`;
