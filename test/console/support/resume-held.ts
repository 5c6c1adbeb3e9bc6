import { randomUUID } from "node:crypto";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Client, clientOf, eventually, type Reply } from "../journey/support/client.ts";
import { newInvestor } from "../journey/support/client-requests.ts";
import { newKey } from "../journey/support/reviews.ts";
import { startTestSystem, type TestSystem } from "../journey/support/system.ts";
import { type Browser, startChromium } from "../support/chromium.ts";
import { CHROMIUM, type ConsolePage, isSkipped, openConsole } from "./support/console-page.ts";

const SETTINGS = { PAMM_CHECK_INTERVAL: "PT2S", PAMM_QUIET_PERIOD: "PT6S" };
const SCOPES = "ops,masters:read,investors:read,subscriptions:read,events";
/** The quiet period, a run of each check, and the interval at which the page asks. */
const RESUMABLE_WITHIN_MS = 120_000;

/** What docs/console/incidents.md says that the overview shows. */
const INCIDENT = "Money commands are held: the database is behind the platform";
const HELD = [
  INCIDENT,
  "Reads work; money commands are refused with safety_stop, and nothing is executed.",
  "Until money commands are sent again",
  "Held since",
  "Lost deposits and withdrawals2",
  "Imports open0",
  "Imported fees not taken over0",
  "Accounts still being read0",
];
const NOTHING_OPEN = "Nothing keeps two people from resuming.";

describe.skipIf(isSkipped)("in a Chromium, where the machine has one,", { timeout: 400_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium(CHROMIUM);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  });

  test("after a restore to an older time the overview says why money commands are held and what is open, and two people resume from the console", async () => {
    await using system = await startTestSystem(SETTINGS);
    const client = clientOf(system);
    const [login, ann, ben] = await Promise.all([
      newInvestor(client, "100.00"),
      newKey(system, "Ann", SCOPES),
      newKey(system, "Ben", SCOPES),
    ]);
    await loseDeposits(system, client, login);
    await eventually(async () => expect((await deposit(client, login, "30.00")).body["code"]).toBe("safety_stop"));

    const first = await openConsole(browser, system.info().url);
    await first.signIn(ann);
    for (const text of HELD) await first.shows(text);
    await first.click(".warning a", "Review platform-");
    await first.shows("What resume waits for");
    await first.click("label.choice", "resume");
    await vote(first, "Propose", "The restore of tonight.");
    await first.shows("Another client has to approve it.");

    const second = await openConsole(browser, system.info().url);
    await second.signIn(ben);
    await second.shows(INCIDENT);
    await untilShown(second, (text) => text.includes(NOTHING_OPEN));
    await second.go("operations?outcome=executed");
    await untilShown(second, (text) => text.match(/executed imported/g)?.length === 2);
    await second.go("overview");
    await second.click(".warning a", "Review platform-");
    await second.shows("Ann proposes to resume");
    await vote(second, "Approve", "Compared with the bank.");
    await second.shows("Approved by Ben");
    await second.go("overview");
    await untilShown(second, (text) => text.includes("Overview") && !text.includes("Money commands are held"));

    await eventually(async () => expect((await deposit(client, login, "30.00")).status).toBe(200));
    expect((await deposit(client, login, "10.00")).body["code"]).toBe("possible_duplicate");
    expect([...first.page.complaints, ...second.page.complaints]).toEqual([]);
  });
});

/** Restores the database to a time before two deposits. */
async function loseDeposits(system: TestSystem, client: Client, login: string): Promise<void> {
  const [database, copy] = [join(system.stateDir, "postgres"), join(system.stateDir, "copy")];
  await system.restart("SIGINT", () => cp(database, copy, { recursive: true, preserveTimestamps: true }));
  for (const lost of ["10.00", "20.00"]) {
    // With one key: an answer that was lost is found by its repetition, and nothing is moved twice.
    const key = randomUUID();
    await eventually(async () => expect((await deposit(client, login, lost, key)).status).toBe(200));
  }
  await system.restart("SIGKILL", async () => {
    await rm(database, { recursive: true });
    await cp(copy, database, { recursive: true, preserveTimestamps: true });
  });
}

function deposit(client: Client, login: string, amount: string, key = randomUUID()): Promise<Reply> {
  const url = `/api/v1/investor/deposit?login=${login}&amount=${amount}&comment=bank`;
  return client.send(url, { method: "POST", headers: { "idempotency-key": key } });
}

async function vote(tab: ConsolePage, button: "Propose" | "Approve", reason: string): Promise<void> {
  await tab.fill("textarea", reason);
  await tab.click("button", button);
}

async function untilShown(tab: ConsolePage, isShown: (text: string) => boolean): Promise<void> {
  await expect.poll(async () => isShown(await tab.text()), { timeout: RESUMABLE_WITHIN_MS }).toBe(true);
}
