import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type JsonObject, textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, clientOf, eventually } from "../journey/support/client.ts";
import { newOperator, reviewAbout } from "../journey/support/reviews.ts";
import { sharedSystem, START_TIMEOUT_MS } from "../journey/support/shared-system.ts";
import type { RunningSystem } from "../journey/support/system.ts";
import { pooled } from "../journey/support/trading.ts";
import { type Browser, startChromium } from "../support/chromium.ts";
import { CHROMIUM, type ConsolePage, isSkipped, openConsole } from "./support/console-page.ts";

/** Follows the link of the case with this sentence in the overview. */
async function openCase(tab: ConsolePage, happened: string): Promise<void> {
  await tab.go("overview");
  await tab.shows(happened);
  const row = `[...document.querySelectorAll("tr")].find((row) => row.textContent.includes(${JSON.stringify(happened)}))`;
  await tab.page.evaluate(`${row}.querySelector("a").click()`);
  await tab.shows("Decide for all of them");
}

describe.skipIf(isSkipped)("in a Chromium, where the machine has one,", { timeout: 120_000 }, () => {
  let browser: Browser;
  let system: RunningSystem;
  let client: Client;
  beforeAll(async () => {
    system = await sharedSystem();
    client = clientOf(system);
    browser = await startChromium(CHROMIUM);
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  });

  test("a fee that the broker charged on several accounts is one case: one person proposes, another one approves, and each account is decided", async () => {
    const { login, investors } = await pooled(client, ["500", "500", "500"]);
    const comment = `Dormant ${login}`;
    for (const investor of investors) {
      await client.control("POST", "deals", { login: investor, action: 4, amount: "-15", comment });
    }
    for (const investor of investors) await reviewAbout(client, investor, "external_funds_on_investor");
    const first = await openConsole(browser, system.info().url);
    const happened = `The broker charged 15.00 on each of 3 Investors, 45.00 together: “${comment}”`;
    await first.signIn(await newOperator(system, `Cat ${login}`));
    await openCase(first, happened);
    await first.shows("45.00 on 3 accounts leave the pool like a withdrawal");
    await first.shows("Another person has to approve it");
    await first.click("label.choice", "Adopt: 3 accounts");
    await first.fill("textarea", "The dormant fee of January.");
    await first.click("button", "Propose for 3 accounts");
    await first.shows("Recorded for 3 accounts.");

    const second = await openConsole(browser, system.info().url);
    await second.signIn(await newOperator(system, `Dan ${login}`));
    await openCase(second, happened);
    await second.click("label.choice", "Approve “adopt” for 3 accounts");
    await second.fill("textarea", "As the broker has announced.");
    await second.click("button", "Approve for 3 accounts");
    await second.shows("Recorded for 3 accounts.");
    await second.shows("Nothing waits here any more");
    await eventually(async () => {
      const { body } = await client.get(`/api/v1/info/master/${login}/proof`);
      expect([body["converged"], textOf(body["master"] as JsonObject, "platform_balance")]).toEqual([true, "1455"]);
    });
    expect([...first.page.complaints, ...second.page.complaints]).toEqual([]);
  });
});
