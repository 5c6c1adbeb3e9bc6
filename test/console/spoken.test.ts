import process from "node:process";
import { describe, expect, test } from "vitest";
import { consoleEdge, SOME, PAGES } from "./support/console-edge.ts";
import { consoleTabs } from "./support/console-tabs.ts";
import { isSkipped, openConsole } from "./support/console-page.ts";
import { TEST_KEY } from "../../services/edge/testing/test-edge.ts";
import { booksEdge } from "./support/books-edge.ts";
import { spokenOn, mistakesOf } from "./support/spoken.ts";
import { FIRST_PAGE, SLOW_LAPTOP, SLOW_LINE, untilFilled } from "./support/slow-laptop.ts";

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

test("what says nothing when it is spoken alone is a mistake", () => {
  const spoken = (role: string, name: string, level?: number) => ({ role, name, level });
  expect(mistakesOf([spoken("heading", "Overview", 1), spoken("button", "Copy Masters")])).toEqual([]);
  expect(mistakesOf([spoken("heading", "Overview", 1), spoken("button", "Copy"), spoken("table", "")])).toEqual([
    'button "Copy"',
    'table ""',
  ]);
  expect(mistakesOf([spoken("heading", "A", 2), spoken("heading", "B", 4)])).toHaveLength(3);
});

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

  test("the form and the overview are there after few requests and bytes, on a slow laptop", async () => {
    const { url } = await serve(SOME);
    const page = await browser().open();
    await page.call("Emulation.setCPUThrottlingRate", SLOW_LAPTOP);
    await page.call("Network.emulateNetworkConditions", SLOW_LINE);
    await page.goto(`${url}/console`);
    await expect.poll(() => page.evaluate("document.activeElement?.id")).toBe("api-key");
    const form = await page.evaluate<{ count: number; bytes: number; ms: number }>(FIRST_PAGE);
    await page.type(TEST_KEY);
    const overview = await page.evaluate<{ count: number; bytes: number; ms: number }>(untilFilled(SOME.masters));
    if (process.env["PAMM_FIGURES"] === "true") process.stdout.write(`${JSON.stringify({ form, overview })}\n`);

    // The page, its script and its style; the icon may come later.
    expect(form.count).toBeLessThanOrEqual(4);
    expect(form.bytes).toBeLessThan(60_000);
    // What the overview is made of, and a proof of each Master.
    expect(overview.count).toBeLessThanOrEqual(20 + SOME.masters);
    expect(overview.bytes).toBeLessThan(60_000);
    // Far above what is measured: a page that waits for something is found, and a busy machine is not.
    expect(form.ms + overview.ms).toBeLessThan(60_000);
  });
});
