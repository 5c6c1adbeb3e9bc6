import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { textOf } from "../../deploy/demo/exact-json.ts";
import { type AnsweredRequest, sendMoneyRequest, type MoneyRequest } from "./support/money-request.ts";
import { type Client, clientOf, eventually, minorOf, platformBalanceOf, type Reply } from "./support/client.ts";
import { expectFeesToReconcile } from "./support/fees.ts";
import { assign, deposit, newInvestor, newMaster, unassign, withdraw } from "./support/client-requests.ts";
import { sharedSystem, START_TIMEOUT_MS } from "./support/shared-system.ts";
import { bookResult, pooled } from "./support/trading.ts";
import { expectCorrectAnswers } from "./support/verdict.ts";

const TIMEOUT = { timeout: 180_000 };

let client: Client;

beforeAll(async () => {
  client = clientOf(await sharedSystem());
}, START_TIMEOUT_MS);

test("20 simultaneous deposits to one Investor are executed once each", TIMEOUT, async () => {
  const login = await newInvestor(client);

  const answered = await depositAtOnce(requests(login, 20));

  expect(answered.filter(({ answer }) => answer === "done").length).toBeGreaterThan(0);
  await expectCorrectAnswers(client, login, answered);
  const { body } = await client.get(`/api/v1/info/balance/${login}`);
  expect(minorOf(textOf(body, "balance"))).toBe(await platformBalanceOf(client, login));
});

test("deposits that race with assign and unassign leave the Master with the sum of its pool", TIMEOUT, async () => {
  const { login: master } = await newMaster(client);
  const investors = await Promise.all([newInvestor(client), newInvestor(client), newInvestor(client)]);
  const [staying, ...leaving] = investors;

  const first = await Promise.all(investors.map((login) => depositAtOnce(requests(login, 1))));
  const during = await Promise.all(investors.map((login) => race(login, () => assign(client, master, login))));
  await eventually(() => expectPool(master, investors));
  const after = await Promise.all(leaving.map((login) => race(login, () => unassign(client, master, login))));

  const states = { [String(staying)]: "ACTIVE", ...Object.fromEntries(leaving.map((login) => [login, "CANCELLED"])) };
  await eventually(async () => expect(await statesOf(master)).toEqual(states));
  await eventually(() => expectPool(master, [String(staying)]));
  const answered = [first, during, after].flat(2);
  for (const login of investors) {
    const own = answered.filter((request) => request.login === login);
    await expectCorrectAnswers(client, login, own);
  }
});

test("results that race with deposits, withdrawals and assigns are allocated to the cent", TIMEOUT, async () => {
  const pool = await pooled(client, ["1000", "2000", "3000"]);
  const { login: master, paymentLogin, investors } = pool;
  const late = await newInvestor(client, "500");
  const results = ["100.01", "-33.33", "7.77", "-0.05", "250", "-120.49"];

  const moved = await Promise.all([
    ...investors.map((login) => depositAndWithdraw(login)),
    eventually(async () => expect((await assign(client, master, late, 0.3)).status).toBe(200)).then(() => 500_00n),
    bookOneByOne(master, results).then(() => 6_000_00n),
  ]);

  const earned = results.reduce((sum, result) => sum + minorOf(result), 0n);
  const capital = moved.reduce((sum, minor) => sum + minor, 0n);
  await eventually(async () => {
    const { total } = await expectFeesToReconcile(client, pool);
    const balances = await Promise.all([...investors, late].map((login) => platformBalanceOf(client, login)));
    const sum = balances.reduce((all, balance) => all + balance, 0n);
    expect(sum + total).toBe(capital + earned);
    expect(await platformBalanceOf(client, master)).toBe(sum);
    expect(await platformBalanceOf(client, paymentLogin)).toBe(total);
  }, 60_000);
});

/** Returns the deposits less the withdrawals, in cents. */
async function depositAndWithdraw(login: string): Promise<bigint> {
  let moved = 0n;
  for (let round = 1; round <= 3; round += 1) {
    await eventually(async () => expect((await deposit(client, login, `${round}.11`, `in-${round}`)).status).toBe(200));
    const out = await eventually(async () => {
      const reply = await withdraw(client, login, "10.01");
      expect(reply.status, reply.text).toBe(200);
      return reply;
    });
    moved += minorOf(`${round}.11`) - minorOf(textOf(out.body, "effective_withdraw"));
  }
  return moved;
}

async function bookOneByOne(master: string, results: readonly string[]): Promise<void> {
  for (const result of results) {
    await bookResult(client, master, result);
    await sleep(500);
  }
}

let created = 0;

/** Each request has a unique comment and a unique amount. */
function requests(login: string, count: number): MoneyRequest[] {
  return Array.from({ length: count }, () => {
    created += 1;
    return { login, action: "deposit", minor: BigInt(created * 100 + (created % 10)), comment: `request-${created}` };
  });
}

async function depositAtOnce(sent: readonly MoneyRequest[]): Promise<AnsweredRequest[]> {
  const answered = await Promise.all(sent.map((request) => sendMoneyRequest(client, request)));
  expect(answered.filter(({ answer }) => answer === "lost")).toEqual([]);
  return answered;
}

/** Five deposits and another command, which is repeated while it is refused. */
async function race(login: string, other: () => Promise<Reply>): Promise<AnsweredRequest[]> {
  const untilDone = eventually(async () => {
    const { status, text } = await other();
    expect(status, text).toBe(200);
  });
  const [answered] = await Promise.all([depositAtOnce(requests(login, 5)), untilDone]);
  return answered;
}

/** The balance of the Master is the sum of its active Investors, on the platform and in the API. */
async function expectPool(master: string, investors: readonly string[]): Promise<void> {
  const active = await client.get(`/api/v1/info/master/${master}/investors`);
  expect(active.items.map((item) => textOf(item, "mt5_login")).toSorted()).toEqual(investors.toSorted());
  const balances = await Promise.all(investors.map((login) => platformBalanceOf(client, login)));
  const pooled = balances.reduce((sum, balance) => sum + balance, 0n);
  expect(await platformBalanceOf(client, master)).toBe(pooled);
  const { body } = await client.get(`/api/v1/info/balance/${master}`);
  expect(minorOf(textOf(body, "balance"))).toBe(pooled);
}

async function statesOf(master: string): Promise<Record<string, string>> {
  const { items } = await client.get(`/api/v1/info/subscriptions?master_login=${master}`);
  return Object.fromEntries(items.map((item) => [textOf(item, "investor_login"), textOf(item, "status")]));
}
