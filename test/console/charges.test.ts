import { expect, test } from "vitest";
import { type JsonObject, textOf } from "../../deploy/demo/exact-json.ts";
import { archive, changePaymentAccount } from "../journey/support/archived.ts";
import { type Client, dealsOf, eventually, untilKnown } from "../journey/support/client.ts";
import { existingAccount, expectDone, withdraw } from "../journey/support/client-requests.ts";
import { newKey, newOperator, reviewAbout } from "../journey/support/reviews.ts";
import { bookResult, expectBalances, pooled } from "../journey/support/trading.ts";
import type { ConsolePage } from "./support/console-page.ts";
import { describeSharedConsole } from "./support/shared-console.ts";

/** Follows the link of the case with these texts in the overview. */
async function openCase(tab: ConsolePage, ...texts: readonly string[]): Promise<void> {
  await tab.go("overview");
  for (const text of texts) await tab.shows(text);
  const row = `[...document.querySelectorAll("tr")].find((row) => ${JSON.stringify(texts)}.every((text) => row.textContent.includes(text)))`;
  await tab.page.evaluate(`${row}.querySelector("a").click()`);
}

/** The pool is proven with this balance of the Master. */
async function expectProof({ get }: Client, login: string, balance: string): Promise<void> {
  await eventually(async () => {
    const { body } = await get(`/api/v1/info/master/${login}/proof`);
    expect([body["converged"], textOf(body["master"] as JsonObject, "platform_balance")]).toEqual([true, balance]);
  });
}

describeSharedConsole((shared) => {
  test("a fee that the broker charged on several accounts is one case: one person proposes, another one approves, and each account is decided", async () => {
    const { client, system, open } = shared();
    const { login, investors } = await pooled(client, ["500", "500", "500"]);
    const comment = `Dormant ${login}`;
    for (const investor of investors) {
      await client.control("POST", "deals", { login: investor, action: 4, amount: "-15", comment });
    }
    for (const investor of investors) await reviewAbout(client, investor, "external_funds_on_investor");
    const first = await open();
    const happened = `The broker charged 15.00 on each of 3 Investors, 45.00 together: “${comment}”`;
    await first.signIn(await newOperator(system, `Cat ${login}`));
    await openCase(first, happened);
    await first.shows("Decide for all of them");
    await first.shows("45.00 on 3 accounts leave the pool like a withdrawal");
    await first.shows("Another person has to approve it");
    await first.click("label.choice", "Adopt: 3 accounts");
    await first.fill("textarea", "The dormant fee of January.");
    await first.click("button", "Propose for 3 accounts");
    await first.shows("Recorded for 3 accounts.");

    const second = await open();
    await second.signIn(await newOperator(system, `Dan ${login}`));
    await openCase(second, happened);
    await second.click("label.choice", "Approve “adopt” for 3 accounts");
    await second.fill("textarea", "As the broker has announced.");
    await second.click("button", "Approve for 3 accounts");
    await second.shows("Recorded for 3 accounts.");
    await second.shows("Nothing waits here any more");
    await expectProof(client, login, "1455");
    expect([...first.page.complaints, ...second.page.complaints]).toEqual([]);
  });

  test("what a dealer paid for a bad price is proposed with the ticket of the bad deal, and another person sees it and approves", async () => {
    const { client, system, open } = shared();
    const { login, investors } = await pooled(client, ["600", "400"]);
    const [cat = "", dan = ""] = investors;
    await bookResult(client, login, "-100");
    await expectBalances(client, { [login]: "900", [cat]: "540", [dan]: "360" });
    const ticket = (await dealsOf(client, login)).at(-1)?.ticket ?? "";
    await client.control("POST", "balance", { login, amount: "100", comment: "bad tick" });
    await reviewAbout(client, login, "external_funds_on_master");

    const first = await open();
    await first.signIn(await newOperator(system, `Eve ${login}`));
    await openCase(first, login, "100.00");
    await first.shows("External funds on Master");
    await first.click("label.choice", "The money becomes a result of the pool");
    await first.fill("input[name=deal]", ticket);
    await first.fill("textarea", `Repairs deal ${ticket}.`);
    await first.click("button", "Propose");
    await first.shows("Another client has to approve it.");

    const second = await open();
    await second.signIn(await newOperator(system, `Fay ${login}`));
    await openCase(second, login, "100.00");
    await second.shows(`Eve ${login} proposes to allocate`);
    await second.shows(`Repairs deal ${ticket}.`);
    expect(await second.page.evaluate("document.querySelector('input[name=deal]').value")).toBe(ticket);
    await second.fill("textarea", "Compared on the platform.");
    await second.click("button", "Approve");
    await second.shows(`Approved by Fay ${login}`);
    await expectBalances(client, { [login]: "1000", [cat]: "600", [dan]: "400" });
    await expectProof(client, login, "1000");
    expect([...first.page.complaints, ...second.page.complaints]).toEqual([]);
  });

  test("a payment account that is gone is named in the overview, the fees that wait are shown, and they are paid to another account", async () => {
    const { client, system, open } = shared();
    const { id, login, paymentLogin, investors } = await pooled(client, ["1000"]);
    const [investor = ""] = investors;
    await archive(client, paymentLogin);
    await bookResult(client, login, "100");
    await expectBalances(client, { [investor]: "1100" });
    await expectDone(withdraw(untilKnown(client), investor, "500"));

    const tab = await open();
    const scopes = "ops,masters:read,investors:read,subscriptions:read,fees:read,events";
    await tab.signIn(await newKey(system, `Gus ${login}`, scopes));
    await tab.shows("Fees to a payment account also go on when the Master gets another one.");
    await tab.shows(`${paymentLogin}paymentarchived`);
    await tab.go(`investors/${investor}`);
    await tab.shows("Balance600.00");
    await tab.shows("Free to withdraw570.00");
    await tab.go(`investors/${investor}/fees`);
    await tab.shows("30.00, are decided and not collected yet");
    await tab.shows("The Investor has paid no fee yet.");
    const next = await existingAccount(client);
    await expectDone(changePaymentAccount(untilKnown(client), id, next));
    await tab.shows("executed");
    await expectBalances(client, { [next]: "30", [investor]: "570", [login]: "570" });
    expect(tab.page.complaints).toEqual([]);
  });
});
