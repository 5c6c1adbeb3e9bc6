import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, clientOf, eventually, minorOf, platformBalanceOf } from "./support/client.ts";
import { expectFeesToReconcile } from "./support/fees.ts";
import { assign, deposit, newInvestor, withdraw } from "./support/client-requests.ts";
import { sharedSystem, START_TIMEOUT_MS } from "./support/shared-system.ts";
import { bookResult, pooled } from "./support/trading.ts";

const TIMEOUT = { timeout: 180_000 };

let client: Client;

beforeAll(async () => {
  client = clientOf(await sharedSystem());
}, START_TIMEOUT_MS);

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
