import process from "node:process";
import { describe, expect, test } from "vitest";
import { SPIKE } from "./support/books.ts";
import { expectAccessible } from "./support/accessible.ts";
import { booksEdge } from "./support/books-edge.ts";
import { isSkipped } from "./support/console-page.ts";
import { consoleTabs } from "./support/console-tabs.ts";

const SHOWN = "document.querySelector('main').innerText";
const PAGES = [
  ["masters", "masters"],
  ["masters/3000001", "master-performance"],
  ["masters/3000001?by=result", "master-results"],
  ["masters/3000001/pool", "master-pool"],
  ["masters/3000001/fees", "master-fees"],
  ["masters/3000001/subscriptions", "master-subscriptions"],
  ["masters/3000001/operations", "master-operations"],
  ["investors", "investors"],
  ["investors/3000003", "investor-equity"],
  ["investors/3000003/statement", "investor-statement"],
  ["investors/3000003/allocations", "investor-allocations"],
  ["investors/3000003/fees", "investor-fees"],
  ["fee-runs?master_login=3000001", "fee-runs"],
  ["fee-runs/100?master_login=3000001", "fee-runs-one"],
  ["fee-runs/payments/1000", "fee-payment"],
] as const;

describe.skipIf(isSkipped)("in a Chromium, where the machine has one,", { timeout: 240_000 }, () => {
  const { signedIn } = consoleTabs(booksEdge);

  test("every page of books is accessible and fits, in light and dark and three widths", async () => {
    const { tab } = await signedIn({ days: 120, rows: 40 });
    for (const [address, name] of PAGES) {
      await tab.go(address);
      await expectAccessible(tab, name);
    }
    expect(tab.page.complaints).toEqual([]);
  });

  // oxlint-disable-next-line vitest/expect-expect -- it saves pictures.
  test.runIf(process.env["PAMM_SCREENSHOTS"] === "true")("pictures are saved in docs/console", async () => {
    const { tab } = await signedIn({ days: 120, rows: 200 });
    for (const [address, name] of PAGES) {
      await tab.go(address);
      await tab.page.evaluate(SETTLED);
      await tab.shoot(name);
    }
    await tab.page.emulate({ width: 390, height: 800, scheme: "dark" });
    await tab.go("masters/3000001");
    await tab.page.evaluate(SETTLED);
    await tab.shoot("master-performance-narrow-dark");
  });

  test("a script in a stored name, comment or sentence stays text, and lines stay lines", async () => {
    const { tab } = await signedIn({ days: 3, rows: 200, isHostile: true });
    for (const [address] of PAGES) {
      await tab.go(address);
      expect(await tab.page.evaluate("globalThis.attacked ?? 0")).toBe(0);
      expect(await tab.page.evaluate("document.querySelectorAll('main img, main script').length")).toBe(0);
    }
    await tab.go("investors/3000003/fees");
    await tab.shows("<script>globalThis.attacked=2</script>");
    await tab.go("masters/3000001");
    await tab.shows("Flat at night.");
    expect(await tab.page.evaluate(SHOWN)).toContain("Trend following.\n\nFlat at night.");
    expect(tab.page.complaints).toEqual([]);
  });

  test("pages without a row or a point say what that means", async () => {
    const { tab } = await signedIn({ days: 0, rows: 0 });
    const texts = [
      ["masters/3000001", "The pool was not valued in this period."],
      ["masters/3000001?by=result", "No result was allocated in this period."],
      ["masters/3000001/pool", "No Investor has money in the pool."],
      ["masters/3000001/fees", "No fee was collected in this period."],
      ["investors/3000003/statement", "Nothing was booked in this period."],
      ["investors/3000003/allocations", "No result was allocated to the Investor yet."],
      ["fee-runs?master_login=3000001", "No fee above zero was collected"],
      ["fee-runs/7?master_login=3000001", "No payment of this run was found"],
    ] as const;
    for (const [address, text] of texts) {
      await tab.go(address);
      await tab.shows(text);
      expect([address, await tab.violations()]).toEqual([address, []]);
    }
    expect(tab.page.complaints).toEqual([]);
  });

  test("the page draws a plot for each measure, with the day that stands out", async () => {
    const { tab } = await signedIn({ days: 10, rows: 0 });
    await tab.go("masters/3000001");
    await expect.poll(() => tab.page.evaluate<number>(DRAWN)).toBe(4);
    const label = await tab.page.evaluate<string>(FIRST_LABEL);
    expect(label).toContain("10 values from");
    expect(label).toContain("highest 3.00");
    expectWhole(await tab.page.evaluate(INK), 10);
    expect(tab.page.complaints).toEqual([]);
  });

  test("a Master that began to trade today is drawn by result, until days are asked for", async () => {
    const { tab } = await signedIn({ days: 1, rows: 700 });
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
    expect(tab.page.complaints).toEqual([]);
  });

  test.each([10, 100_000])("%i points are drawn from end to end, with the one that stands out", async (count) => {
    const { tab } = await signedIn({ days: 3, rows: 0 });
    await tab.go("masters/3000001");
    await expect.poll(() => tab.page.evaluate<number>(DRAWN)).toBe(4);
    const tookMs = await tab.page.evaluate<number>(drawing(count));
    expectWhole(await tab.page.evaluate(INK), count);
    expect(tookMs).toBeLessThan(20_000);
    expect(tab.page.complaints).toEqual([]);
  });

  test("a plot is a table too, and a statement of 100,000 lines loads as it is scrolled", async () => {
    const { tab } = await signedIn({ days: 3, rows: 100_000 });
    await tab.go("investors/3000003/statement?from=2026-01-01&to=2026-12-01");
    await tab.shows("Balance so far");
    await tab.click(".plot button", "Table");
    await tab.shows("500.00");
    await tab.click(".plot button", "Table");
    const rows = () =>
      tab.page.evaluate<number>("Number(document.querySelector('.readout strong').textContent.replaceAll(',', ''))");
    await expect
      .poll(async () => (await tab.page.evaluate(SCROLL), await rows()), { timeout: 60_000 })
      .toBeGreaterThan(2_000);
    expect(await tab.page.evaluate<number>("document.querySelectorAll('tbody tr').length")).toBeLessThan(150);
    expect(tab.page.complaints).toEqual([]);
  });
});

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

/** What is read is there; what is drawn follows. */
const SETTLED = "new Promise((settled) => setTimeout(settled, 700))";
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
