import { beforeAll, expect, test } from "vitest";
import { isObject } from "../../deploy/demo/exact-json.ts";
import { type Client, clientOf, eventually, untilKnown } from "./support/client.ts";
import { assign, existingAccount, expectDone, newMaster, unassign } from "./support/client-requests.ts";
import { sharedSystem, START_TIMEOUT_MS } from "./support/shared-system.ts";
import { bookResult, expectBalances } from "./support/trading.ts";

const TIMEOUT = { timeout: 180_000 };
const MAY_TRADE = 0x163;
const MAY_NOT_TRADE = 0x167;

let client: Client;

beforeAll(async () => {
  client = clientOf(await sharedSystem());
}, START_TIMEOUT_MS);

async function rightsOf(login: string): Promise<unknown> {
  const account = await client.control("GET", `accounts/${login}`);
  return isObject(account) ? account["rights"] : undefined;
}

/** The rights of an account change some seconds after its subscription, or its Master. */
async function expectRights(login: string, rights: number, withinMs?: number): Promise<void> {
  await eventually(async () => expect(Number(await rightsOf(login))).toBe(rights), withinMs);
}

test("an Investor trades before and after its subscriptions, and not between two of them", TIMEOUT, async () => {
  const [first, second] = [await newMaster(client), await newMaster(client)];
  const investor = await existingAccount(client, "1000");
  await expectDone(untilKnown(client).post("/api/v1/investor/add", { mt5_login: investor, name: "Trader" }));
  await bookResult(client, investor, "10");
  await eventually(() => expectDone(assign(untilKnown(client), first.login, investor)));

  await expect(bookResult(client, investor, "10")).rejects.toThrow(/may not trade/);
  await expectBalances(client, { [first.login]: "1010" });
  await bookResult(client, first.login, "1");
  await expectDone(unassign(untilKnown(client), first.login, investor));
  await eventually(() => expectDone(assign(untilKnown(client), second.login, investor)));
  await expectRights(investor, MAY_NOT_TRADE);
  await expectBalances(client, { [second.login]: "1010.80" });

  await expectDone(unassign(untilKnown(client), second.login, investor));
  await expectRights(investor, MAY_TRADE, 60_000);
  await bookResult(client, investor, "10");
});
