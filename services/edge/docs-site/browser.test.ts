import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Browser, type BrowserPage, findChromium, startChromium } from "#test/support/chromium.ts";
import { ROUTES } from "../routes.ts";
import { aDeposit } from "../testing/replies/funding.ts";
import { cents } from "../testing/replies/values.ts";
import { TEST_KEY, type TestEdge, testEdge } from "../testing/test-edge.ts";

const chromium = findChromium();
const SHOWN_WITHIN_MS = 20_000;
const PAGES = ["/docs", "/docs/guide/code-samples", "/docs/guide/errors", "/docs/problems", "/docs/problems/outcome_unknown"];

describe.skipIf(chromium === undefined)("in a Chromium, where the machine has one,", () => {
  let browser: Browser;
  let edge: TestEdge;
  let url: string;
  let page: BrowserPage;

  beforeAll(async () => {
    edge = await testEdge({
      funding: {
        getBalance: async ({ login }) => ({ login, balance: cents(25_050n), error: "" }),
        deposit: async (_request, { commandId }) => aDeposit({ operationId: commandId }),
      },
      app: { idempotency: { keptMs: 1, claim: async () => undefined as never, execute: (_claim, work) => work() } },
    });
    url = await edge.app.listen({ host: "127.0.0.1", port: 0 });
    browser = await startChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await edge?.app.close();
  });
  beforeEach(async () => {
    page = await browser.open();
    edge.calls.length = 0;
  });

  const until = async (expression: string) =>
    await expect.poll(() => page.evaluate<boolean>(`Boolean(${expression})`), { timeout: SHOWN_WITHIN_MS }).toBe(true);
  const isWiderThanWindow = () =>
    page.evaluate<boolean>("document.documentElement.scrollWidth > document.documentElement.clientWidth");
  const openReference = async () => {
    await page.goto(`${url}/docs/reference`);
    await until("document.querySelector('#reference h1')");
  };
  const expectQuiet = () => {
    expect(page.complaints).toEqual([]);
    expect(page.requests.filter((address) => !/^(?:data|blob):/.test(address) && !address.startsWith(`${url}/`))).toEqual([]);
  };

  test("a chapter of the guide is reached by its link, and one language of a sample is shown at a time", async () => {
    await page.goto(`${url}/docs`);
    await page.evaluate(`[...document.querySelectorAll("nav.chapters a")].find((a) => a.textContent === "Code samples").click()`);
    await until(`document.querySelector("h1")?.textContent === "Code samples"`);
    const languages = () =>
      page.evaluate(`[...new Set([...document.querySelectorAll(".samples figure:not([hidden])")].map((f) => f.dataset.language))]`);

    await expect.poll(languages).toEqual(["curl"]);
    await page.evaluate(`[...document.querySelectorAll("[role=tab]")].find((tab) => tab.textContent === "PHP").click()`);
    expect(await languages()).toEqual(["PHP"]);
    expectQuiet();
  });
});
