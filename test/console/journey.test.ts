import { beforeEach, expect, test } from "vitest";
import { dealsOf } from "../journey/support/client.ts";
import { deposit, expectDone } from "../journey/support/client-requests.ts";
import { newKey, newOperator, reviewAbout } from "../journey/support/reviews.ts";
import { expectBalances, pooled } from "../journey/support/trading.ts";
import type { ConsolePage } from "./support/console-page.ts";
import { describeSharedConsole } from "./support/shared-console.ts";

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

  test("a fee that the broker charged on several accounts is one case: one person proposes, another one approves, and each account is decided", async () => {
    const { client, system, open } = shared();
    const { login, investors } = await pooled(client, ["500", "500", "500"]);
    const comment = `Dormant ${login}`;
    for (const investor of investors) {
      await client.control("POST", "deals", { login: investor, action: 4, amount: "-15", comment });
    }
    for (const investor of investors) await reviewAbout(client, investor, "external_funds_on_investor");
    const happened = `The broker charged 15.00 on each of 3 Investors, 45.00 together: “${comment}”`;
    await tab.signIn(await newOperator(system, `Cat ${login}`));
    await openCase(tab, happened);
    await tab.shows("Decide for all of them");
    await tab.shows("45.00 on 3 accounts leave the pool like a withdrawal");
    await tab.shows("Another person has to approve it");
    await tab.click("label.choice", "Adopt: 3 accounts");
    await tab.fill("textarea", "The dormant fee <b>of January</b>.");
    await tab.click("button", "Propose for 3 accounts");
    await tab.shows("Recorded for 3 accounts.");

    const second = await open();
    await second.signIn(await newOperator(system, `Dan ${login}`));
    await openCase(second, happened);
    await second.click("label.choice", "Approve “adopt” for 3 accounts");
    await second.fill("textarea", "As the broker has announced.");
    await second.click("button", "Approve for 3 accounts");
    await second.shows("Recorded for 3 accounts.");
    await second.shows("Nothing waits here any more");
    await second.go("reviews?state=decided");
    await second.shows(`adopt, by Cat ${login}`);
    await expectBalances(client, { [login]: "1455" });
    expect([...tab.page.complaints, ...second.page.complaints]).toEqual([]);
  });
});

/** Follows the link of the case with this text in the overview. */
async function openCase(tab: ConsolePage, happened: string): Promise<void> {
  await tab.go("overview");
  await tab.shows(happened);
  const row = `[...document.querySelectorAll("tr")].find((row) => row.textContent.includes(${JSON.stringify(happened)}))`;
  await tab.page.evaluate(`${row}.querySelector("a").click()`);
}
