import { beforeAll, expect, test } from "vitest";
import { type Client, clientOf, dealsOf, platformBalanceOf, untilKnown, withKey } from "./support/client.ts";
import { deposit, expectDone, unassign, withdraw } from "./support/client-requests.ts";
import { expectProblem } from "./support/problem.ts";
import { decide, newOperator, reviewAbout } from "./support/reviews.ts";
import { text } from "./support/shape.ts";
import { sharedSystem, START_TIMEOUT_MS } from "./support/shared-system.ts";
import { bookResult, expectBalances, type Pool, pooled } from "./support/trading.ts";

const TIMEOUT = { timeout: 180_000 };
/** Of a difference that came before the payment account was looked at first: the next check of deals finds it. */
const FOUND_WITHIN_MS = 90_000;
const STOPPED = { status: 503, code: "safety_stop", outcome: "not_executed" } as const;

let client: Client;
let operator: Client;
let second: string;

beforeAll(async () => {
  const system = await sharedSystem();
  client = clientOf(system);
  operator = withKey(client, await newOperator(system, "First"));
  second = await newOperator(system, "Second");
}, START_TIMEOUT_MS);

/** A pool whose Investor has paid 30.00 of a profit of 100.00 and has earned 100.00 again. */
async function poolWithPaidFee(): Promise<Pool> {
  const pool = await pooled(client, ["1000"]);
  const [investor = ""] = pool.investors;
  await bookResult(client, pool.login, "100");
  await expectBalances(client, { [investor]: "1100", [pool.login]: "1100" });
  await expectDone(withdraw(untilKnown(client), investor, "70"));
  await expectBalances(client, { [pool.paymentLogin]: "30", [investor]: "1000", [pool.login]: "1000" });
  await bookResult(client, pool.login, "100");
  await expectBalances(client, { [investor]: "1100", [pool.login]: "1100" });
  return pool;
}

/** Withdrawals and unassigns of the pool are refused; deposits are accepted. */
async function expectFeesToStop({ login, investors }: Pool): Promise<void> {
  const [investor = ""] = investors;
  await reviewAbout(client, login, "fees_do_not_tie", FOUND_WITHIN_MS);
  expectProblem(await withdraw(client, investor, "1"), { ...STOPPED, members: { operation_id: text } });
  expectProblem(await unassign(client, login, investor), { ...STOPPED, members: { operation_id: text } });
  await expectDone(deposit(untilKnown(client), investor, "10", "accepted"));
  await expectBalances(client, { [login]: "1110" });
}

async function expectToResume({ login, paymentLogin, investors }: Pool, credited: string): Promise<void> {
  const [investor = ""] = investors;
  await decide(operator, await reviewAbout(client, login, "fees_do_not_tie"), "resume", second);
  await expectDone(withdraw(untilKnown(client), investor, "80"));
  await expectBalances(client, { [paymentLogin]: credited, [investor]: "1000", [login]: "1000" });
}

test(
  "a fee that the platform has credited twice stops the fees of its Master until two operators resume them",
  TIMEOUT,
  async () => {
    const [pool, other] = [await poolWithPaidFee(), await poolWithPaidFee()];
    const [credit] = await dealsOf(client, pool.paymentLogin);
    await client.control("POST", "balance", { login: pool.paymentLogin, amount: "30", comment: credit?.comment });
    await expectFeesToStop(pool);
    const review = await reviewAbout(client, pool.login, "fees_do_not_tie");
    expect(review).toMatchObject({ actions: ["resume"], state: "open", evidence: { deal_ids: [expect.any(String)] } });
    await expectDone(withdraw(untilKnown(client), other.investors[0] ?? "", "70"));
    expect(await platformBalanceOf(client, other.paymentLogin)).toBe(60_00n);
    // The second credit is decided in a review of platform; only the fee of the second profit is added, once.
    await expectToResume(pool, "90");
  },
);

test(
  "a fee whose credit the platform has lost stops the fees of its Master until two operators resume them",
  TIMEOUT,
  async () => {
    const pool = await poolWithPaidFee();
    const [credit] = await dealsOf(client, pool.paymentLogin);
    await client.control("DELETE", `deals/${credit?.ticket}`);
    await expectFeesToStop(pool);
    // The deal is not in the history any more, and the balance still has its amount: only the next fee is credited.
    await expectToResume(pool, "60");
    expect(await dealsOf(client, pool.paymentLogin)).toHaveLength(1);
  },
);
