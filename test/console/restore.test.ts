import { randomUUID } from "node:crypto";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Client, clientOf, eventually, type Reply } from "../journey/support/client.ts";
import { newInvestor } from "../journey/support/client-requests.ts";
import { newKey } from "../journey/support/reviews.ts";
import { startTestSystem } from "../journey/support/system.ts";
import { type Browser, startChromium } from "../support/chromium.ts";
import { CHROMIUM, isSkipped, openConsole } from "./support/console-page.ts";

const SCOPES = "ops,masters:read,investors:read,subscriptions:read,events";
const HELD = "Money commands are held: the database is behind the platform";
const NOTHING_OPEN = "Nothing keeps two people from resuming.";
/** A quiet period, a run of each check, and the interval at which the page asks. */
const RESUMABLE_WITHIN_MS = 120_000;

function deposit(client: Client, login: string, amount: string): Promise<Reply> {
  const url = `/api/v1/investor/deposit?login=${login}&amount=${amount}&comment=bank`;
  return client.send(url, { method: "POST", headers: { "idempotency-key": randomUUID() } });
}

describe.skipIf(isSkipped)("in a Chromium, where the machine has one,", { timeout: 400_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium(CHROMIUM);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  });

  test("after a restore to an older time the overview says why money commands are held and what is open, and two people resume from the console", async () => {
    await using system = await startTestSystem({ PAMM_CHECK_INTERVAL: "PT2S", PAMM_QUIET_PERIOD: "PT8S" });
    const client = clientOf(system);
    const [ann, ben] = [await newKey(system, "Ann", SCOPES), await newKey(system, "Ben", SCOPES)];
    const login = await newInvestor(client, "100.00");
    const [database, copy] = [join(system.stateDir, "postgres"), join(system.stateDir, "copy")];
    await system.restart("SIGINT", () => cp(database, copy, { recursive: true, preserveTimestamps: true }));
    for (const lost of ["10.00", "20.00"]) {
      await eventually(async () => expect((await deposit(client, login, lost)).status).toBe(200));
    }
    await system.restart("SIGKILL", async () => {
      await rm(database, { recursive: true });
      await cp(copy, database, { recursive: true, preserveTimestamps: true });
    });
    await eventually(async () => expect((await deposit(client, login, "30.00")).body["code"]).toBe("safety_stop"));

    const first = await openConsole(browser, system.info().url);
    await first.signIn(ann);
    await first.shows(HELD);
    await first.shows("refused with safety_stop");
    await first.shows("two people resume in the review");
    await first.shows("Lost deposits and withdrawals2");
    await first.shows("Imports open0");
    await first.click(".warning a", "Review platform-");
    await first.shows("What resume waits for");
    await first.click("label.choice", "resume");
    await first.fill("textarea", "The restore of tonight.");
    await first.click("button", "Propose");
    await first.shows("Another client has to approve it.");

    const second = await openConsole(browser, system.info().url);
    await second.signIn(ben);
    await second.shows(HELD);
    await expect.poll(() => second.text(), { timeout: RESUMABLE_WITHIN_MS }).toContain(NOTHING_OPEN);
    await second.click(".warning a", "Review platform-");
    await second.shows("Ann proposes to resume");
    await second.fill("textarea", "Compared with the bank.");
    await second.click("button", "Approve");
    await second.shows("Approved by Ben");
    await second.go("overview");
    await expect.poll(() => second.text(), { timeout: RESUMABLE_WITHIN_MS }).not.toContain("Money commands are held");
    await eventually(async () => expect((await deposit(client, login, "30.00")).status).toBe(200));
    expect((await deposit(client, login, "10.00")).body["code"]).toBe("possible_duplicate");
    expect([...first.page.complaints, ...second.page.complaints]).toEqual([]);
  });
});
