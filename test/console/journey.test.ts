import { beforeEach, expect, test } from "vitest";
import { dealsOf } from "../journey/support/client.ts";
import { deposit, expectDone } from "../journey/support/client-requests.ts";
import { newKey, newOperator, reviewAbout } from "../journey/support/reviews.ts";
import { pooled } from "../journey/support/trading.ts";
import { itemsOf, textOf } from "../../deploy/demo/exact-json.ts";
import type { ConsolePage } from "./support/console-page.ts";
import { describeSharedConsole } from "./support/shared-console.ts";

const HEADINGS: Readonly<Record<string, string>> = {
  operations: "Operation id",
  reviews: "Undecided",
  breaks: "Breaks and checks",
};

describeSharedConsole((shared) => {
  let tab: ConsolePage;
  beforeEach(async () => {
    tab = await shared().open();
  });

  test("a deposit is found by its comment, its legs say what was written and what came back, a new one appears by itself, and each is found by its ticket", async () => {
    const { client, system } = shared();
    const { investors } = await pooled(client, ["500"]);
    const [investor = ""] = investors;
    const comment = `CONSOLE-${investor}`;
    await expectDone(deposit(client, investor, "30.25", comment));
    await tab.signIn(await newKey(system, `Support ${investor}`, "investors:read,events"));
    await tab.go(`operations?comment=${comment}`);
    await tab.shows("30.25");
    await tab.click("td a.code", "…");
    await tab.shows("Written to the platform");
    await tab.shows("Ticket");
    await tab.shows(comment);

    await tab.go(`operations?login=${investor}`);
    await tab.shows("30.25");
    await expectDone(deposit(client, investor, "41.75", `${comment}-2`));
    await tab.shows("41.75");

    const [{ ticket } = { ticket: "" }] = await dealsOf(client, investor);
    await tab.go("operations");
    await tab.fill("input[name=ticket]", ticket);
    await tab.click("button", "Search");
    await tab.shows(`Searched for Ticket of a deal ${ticket}.`);
    await tab.shows("500.00");
    expect(await tab.text()).not.toContain("41.75");
    expect(tab.page.complaints).toEqual([]);
  });

  test("a review is proposed in one tab and approved by another client in a second, and nothing else can decide it", async () => {
    const { client, open, system } = shared();
    const { investors } = await pooled(client, ["500"]);
    const [investor = ""] = investors;
    await client.control("POST", "balance", { login: investor, amount: "40" });
    const review = textOf(await reviewAbout(client, investor, "external_funds_on_investor"), "id");
    const [first, second] = [
      await newOperator(system, `Ann ${investor}`),
      await newOperator(system, `Ben ${investor}`),
    ];

    await tab.signIn(first);
    await tab.go(`reviews/${review}`);
    await tab.shows("External funds on Investor");
    await tab.shows("mirrored like a deposit or withdrawal");
    await tab.click("label.choice", "adopt");
    await tab.fill("textarea", "Seen in the terminal <b>of the dealer</b>.");
    await tab.click("button", "Propose");
    await tab.shows("Another client has to approve it.");

    const other = await open();
    await other.signIn(second);
    await other.go(`reviews/${review}`);
    await other.shows(`Ann ${investor} proposes to adopt`);
    await other.shows("Seen in the terminal <b>of the dealer</b>.");
    await other.fill("textarea", "Compared with the platform.");
    await other.click("button", "Approve");
    await other.shows(`Approved by Ben ${investor}`);
    await other.go("reviews?state=decided");
    await other.shows(`adopt, by Ann ${investor}`);
    // The first tab has no scope for events, so it is read again by hand.
    await tab.go("reviews");
    await tab.go(`reviews/${review}`);
    await tab.shows(`Approved by Ben ${investor}`);
    expect([...tab.page.complaints, ...other.page.complaints]).toEqual([]);
  });

  test("the overview counts what the API has, and every figure leads to where it comes from", async () => {
    const { client, system } = shared();
    const { login } = await pooled(client, ["500", "300"]);
    await tab.signIn(
      await newKey(system, `Risk ${login}`, "ops,masters:read,investors:read,subscriptions:read,events"),
    );
    // Other tests have Masters on this system, which come before it: a page of them is listed, and the rows that are seen are drawn.
    const { body } = await client.get("/api/v1/masters?limit=100");
    const shown = itemsOf(body["items"]).map((master) => textOf(master, "mt5_login"));
    await tab.shows(shown[0] ?? "none");
    await tab.page.evaluate(`document.querySelector('[aria-label="Rows of Masters"]').scrollTop = 1e6`);
    await tab.shows(shown.at(-1) ?? "none");
    if (body["has_more"] === true) await tab.shows("The first 100 Masters are shown.");
    else expect(shown).toContain(login);
    await tab.shows("Converged Masters");
    const targets = await tab.page.evaluate<string[]>(
      "[...document.querySelectorAll('.figure dt a')].map((one) => one.getAttribute('href'))",
    );
    expect(targets.length).toBeGreaterThan(5);
    for (const target of targets) {
      await tab.go("overview");
      await tab.shows("Converged Masters");
      await tab.click(`.figure a[href=${JSON.stringify(target)}]`, "");
      await tab.shows(target.startsWith("#/") ? (HEADINGS[target.slice(2).split("?")[0] ?? ""] ?? "none") : "Masters");
      expect(await tab.text()).not.toContain("Nothing here");
    }
    expect(tab.page.complaints).toEqual([]);
  });
});
