import { describe, expect, test } from "vitest";
import { consoleEdge, SOME, PAGES } from "./support/console-edge.ts";
import { consoleTabs } from "./support/console-tabs.ts";
import { isSkipped, openConsole } from "./support/console-page.ts";
import { TEST_KEY } from "../../services/edge/testing/test-edge.ts";
import { booksEdge } from "./support/books-edge.ts";
import { spokenOn, mistakesOf } from "./support/spoken.ts";

const OF_BOOKS = [
  "masters/3000001",
  "masters/3000001/pool",
  "masters/3000001/fees",
  "investors/3000003",
  "investors/3000003/statement",
  "investors/3000003/fees",
  "fee-runs/100?master_login=3000001",
  "fee-runs/payments/1000",
];
const FOCUSED = "document.activeElement.tagName";

type Loaded = { readonly count: number; readonly bytes: number };
/** The page itself and what it has requested. */
const LOADED = `(() => {
  const read = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  return { count: read.length, bytes: read.reduce((sum, { transferSize }) => sum + transferSize, 0) };
})()`;
/** Every figure of the overview and every Master has its values. */
const IS_FILLED = `(() => {
  const figures = [...document.querySelectorAll(".figure .value")].map((one) => one.textContent);
  const rows = document.querySelectorAll("#masters .badge:not(.waiting)").length;
  return figures.length >= 8 && !figures.includes("…") && rows >= ${SOME.masters};
})()`;

describe.skipIf(isSkipped)("in a Chromium, where the machine has one,", { timeout: 120_000 }, () => {
  const { browser, serve, signedIn } = consoleTabs(consoleEdge);

  test("every page makes sense when it is spoken, and begins at its heading", async () => {
    const { tab } = await signedIn(SOME);
    for (const address of PAGES) {
      await tab.go(address);
      await expect.poll(() => tab.page.evaluate(FOCUSED), { message: address }).toBe("H1");
      expect([address, mistakesOf(await spokenOn(tab.page))]).toEqual([address, []]);
    }
    const edge = await booksEdge({ days: 30, rows: 20 });
    const books = await openConsole(browser(), await edge.app.listen({ host: "127.0.0.1", port: 0 }));
    await books.signIn(TEST_KEY);
    for (const address of OF_BOOKS) {
      await books.go(address);
      expect([address, mistakesOf(await spokenOn(books.page))]).toEqual([address, []]);
    }
    await edge.app.close();
  });

  test("the form and the overview are there after few requests and bytes", async () => {
    const { url } = await serve(SOME);
    const page = await browser().open();
    await page.goto(`${url}/console`);
    await expect.poll(() => page.evaluate("document.activeElement?.id")).toBe("api-key");
    const form = await page.evaluate<Loaded>(LOADED);
    await page.type(TEST_KEY);
    await page.evaluate("document.querySelector('.sign-in button').click()");
    await expect.poll(() => page.evaluate(IS_FILLED)).toBe(true);
    const overview = await page.evaluate<Loaded>(LOADED);

    // The page, its script and its style; the icon may come later.
    expect(form.count).toBeLessThanOrEqual(4);
    expect(form.bytes).toBeLessThan(60_000);
    // What the overview is made of, and a proof of each Master.
    expect(overview.count - form.count).toBeLessThanOrEqual(20 + SOME.masters);
    expect(overview.bytes - form.bytes).toBeLessThan(60_000);
  });
});
