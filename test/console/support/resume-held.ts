import { expect } from "vitest";
import { type Browser, startChromium } from "../../support/chromium.ts";
import { CHROMIUM, type ConsolePage, openConsole } from "./console-page.ts";

/** What a person needs who works an incident. */
export const SCOPES = "ops,masters:read,investors:read,subscriptions:read,events";
/** The quiet period, a run of each check, and the interval at which the page asks. */
const RESUMABLE_WITHIN_MS = 120_000;

/** What docs/console/incidents.md says that the overview shows. */
const INCIDENT = "Money commands are held: the database is behind the platform";
const HELD = [
  INCIDENT,
  "Reads work; money commands are refused with safety_stop, and nothing is executed.",
  "Until money commands are sent again",
  "Held since",
  "Imports open0",
  "Accounts still being read0",
];
const NOTHING_OPEN = "Nothing keeps two people from resuming.";

/** An API key of each. */
type People = { readonly ann: string; readonly ben: string };

/** What the restored database has lost. */
type Lost = { readonly movements: number };

/** The overview says why money commands are held and what is open, and two people resume from the console; fails on any complaint of a page. */
export async function resumeFromConsole(url: string, people: People, lost: Lost): Promise<void> {
  await using browser = await startChromium(CHROMIUM);
  await resumeIn(browser, url, { ...people, lost });
}

async function resumeIn(
  browser: Browser,
  url: string,
  { ann, ben, lost }: People & { readonly lost: Lost },
): Promise<void> {
  const first = await openConsole(browser, url);
  await first.signIn(ann);
  const counted = [`Lost deposits and withdrawals${lost.movements}`, "Imported fees not recorded0"];
  for (const text of [...HELD, ...counted]) await first.shows(text);
  await first.click(".warning a", "Review platform-");
  await first.shows("What resume waits for");
  await first.click("label.choice", "resume");
  await vote(first, "Propose", "The restore of tonight.");
  await first.shows("Another client has to approve it.");

  const second = await openConsole(browser, url);
  await second.signIn(ben);
  await second.shows(INCIDENT);
  await untilShown(second, (text) => text.includes(NOTHING_OPEN));
  await second.go("operations?outcome=executed");
  await untilShown(second, (text) => text.match(/executed imported/g)?.length === lost.movements);
  await second.go("overview");
  await second.click(".warning a", "Review platform-");
  await second.shows("Ann proposes to resume");
  await vote(second, "Approve", "Compared with the bank.");
  await second.shows("Approved by Ben");
  await second.go("overview");
  await untilShown(second, (text) => text.includes("Overview") && !text.includes("Money commands are held"));
  expect([...first.page.complaints, ...second.page.complaints]).toEqual([]);
}

async function vote(tab: ConsolePage, button: "Propose" | "Approve", reason: string): Promise<void> {
  await tab.fill("textarea", reason);
  await tab.click("button", button);
}

async function untilShown(tab: ConsolePage, isShown: (text: string) => boolean): Promise<void> {
  await expect.poll(async () => isShown(await tab.text()), { timeout: RESUMABLE_WITHIN_MS }).toBe(true);
}
