import { beforeAll, expect, test } from "vitest";
import { isObject, textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, clientOf, eventually, untilKnown } from "./support/client.ts";
import { assign, existingAccount, expectDone, newInvestor, newMaster, unassign } from "./support/client-requests.ts";
import { patchMaster } from "./support/master-life.ts";
import { expectProblem } from "./support/problem.ts";
import { exactly } from "./support/shape.ts";
import { sharedSystem, START_TIMEOUT_MS } from "./support/shared-system.ts";
import { bookResult, closePosition, expectBalances, openPosition } from "./support/trading.ts";

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

test("created Investors and payment accounts never trade", TIMEOUT, async () => {
  const { login: master, paymentLogin } = await newMaster(client);
  const investor = await newInvestor(client, "100");
  for (const login of [investor, paymentLogin]) {
    await expect(openPosition(client, login)).rejects.toThrow(/may not trade/);
  }
  await bookResult(client, master, "1");
});

test(
  "a payment account is taken without open positions only, and may not trade then, nor may the one that replaces it",
  TIMEOUT,
  async () => {
    const [login, paymentLogin] = [await existingAccount(client, "100"), await existingAccount(client, "100")];
    const request = { mt5_login: login, payment_account_login: paymentLogin, min_deposit: 0 };
    const add = () => untilKnown(client).post("/api/v1/master/add", request);
    const position = await openPosition(client, paymentLogin, "0.01");
    const refused = { status: 409, code: "payment_account_has_open_positions", outcome: "not_executed" } as const;
    expectProblem(await add(), { ...refused, members: { open_positions: exactly(1) } });
    expect(Number(await rightsOf(paymentLogin))).toBe(MAY_TRADE);
    await closePosition(client, position);

    const { body } = await expectDone(add());
    await expectRights(paymentLogin, MAY_NOT_TRADE);
    const next = await existingAccount(client);
    await expectDone(patchMaster(untilKnown(client), textOf(body, "id"), { payment_account_login: next }));
    await expectRights(next, MAY_NOT_TRADE);
  },
);
