import { beforeAll, expect, test } from "vitest";
import { itemsOf } from "../../deploy/demo/exact-json.ts";
import { changePaymentAccount, stateOf, untilState } from "./support/archived.ts";
import {
  type Client,
  clientOf,
  dealsOf,
  eventually,
  platformBalanceOf,
  untilKnown,
  withKey,
} from "./support/client.ts";
import { assign, deposit, existingAccount, expectDone, unassign, withdraw } from "./support/client-requests.ts";
import { expectProblem } from "./support/problem.ts";
import { decide, newOperator, reviewAbout } from "./support/reviews.ts";
import { sharedSystem, START_TIMEOUT_MS } from "./support/shared-system.ts";
import { bookResult, expectBalances, type Pool, pooled } from "./support/trading.ts";

const TIMEOUT = { timeout: 180_000 };
/** Of a difference that came before the payment account was looked at first: the next check of deals finds it. */
const FOUND_WITHIN_MS = 90_000;
const STOPPED = { status: 409, code: "safety_stop", outcome: "not_executed" } as const;

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
  expectProblem(await withdraw(client, investor, "1"), STOPPED);
  expectProblem(await unassign(client, login, investor), STOPPED);
  await expectDone(deposit(untilKnown(client), investor, "10", "accepted"));
  await expectBalances(client, { [login]: "1110" });
}

async function expectToResume({ login, paymentLogin, investors }: Pool, credited: string): Promise<void> {
  const [investor = ""] = investors;
  await decide(operator, await reviewAbout(client, login, "fees_do_not_tie"), "resume", second);
  await expectDone(withdraw(untilKnown(client), investor, "80"));
  await expectBalances(client, { [paymentLogin]: credited, [investor]: "1000", [login]: "1000" });
}

test.concurrent(
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
    await expectBalances(client, { [other.paymentLogin]: "60.00" });
    // The second credit is decided in a review of platform; only the fee of the second profit is added, once.
    await expectToResume(pool, "90");
  },
);

/** The pool is proven, with its archived accounts. */
async function expectProof({ get }: Client, { login }: Pool): Promise<void> {
  await eventually(async () => {
    const { status, body, text: shown } = await get(`/api/v1/info/master/${login}/proof`);
    expect({ status, converged: body["converged"] }, shown).toEqual({ status: 200, converged: true });
  });
}

/** No break is about these accounts or stops their Master. */
async function expectNoBreak({ get }: Client, { login, investors, paymentLogin }: Pool): Promise<void> {
  const { body, text: shown } = await get("/api/v1/ops/breaks?limit=100");
  const about = itemsOf(body["items"]).filter((each) =>
    [login, paymentLogin, ...investors].some((own) => own === each["login"]),
  );
  expect(about, shown).toEqual([]);
}

/** What is deposited while the Master is archived stays on the account and can be withdrawn; the rest is mirrored when the Master is back. */
async function expectMoneyToWait(pool: Pool, investor: string): Promise<void> {
  await expectDone(deposit(untilKnown(client), investor, "30", "kept"));
  await eventually(async () => {
    const { body, text: shown } = await client.get(`/api/v1/operations?login=${investor}`);
    const kept = itemsOf(body["items"]).find(({ comment }) => comment === "kept");
    expect(itemsOf(kept?.["legs"]).at(-1), shown).toMatchObject({ outcome: "pending", waits_for: "master_not_shown" });
  });
  const { body: proof, text: shown } = await client.get(`/api/v1/info/master/${pool.login}/proof`);
  expect(proof, shown).toMatchObject({ converged: false, waits: [{ reason: "master_not_shown" }] });
  await expectDone(withdraw(untilKnown(client), investor, "10"));
  await expectBalances(client, { [investor]: "20", [pool.login]: "0" });
  await client.control("POST", `accounts/${pool.login}/restore`, {});
  await expectBalances(client, { [investor]: "20", [pool.login]: "20" });
  await expectProof(client, pool);
  await expectNoBreak(client, pool);
}

const ARCHIVED = {
  status: 409,
  code: "account_archived",
  outcome: "not_executed",
  members: { mt5_login: expect.any(String) },
} as const;

test.concurrent(
  "an Investor whose empty account the broker archives holds up no other account, leaves with 0.00, and may come back",
  TIMEOUT,
  async () => {
    const pool = await pooled(client, ["1000", "1000", "500"]);
    const [gone = "", other = "", back = ""] = pool.investors;
    for (const [login, amount] of [
      [gone, "1000"],
      [back, "500"],
    ] as const) {
      await expectDone(withdraw(untilKnown(client), login, amount));
    }
    await expectBalances(client, { [gone]: "0", [back]: "0", [pool.login]: "1000" });
    const empty = await pooled(client, ["100"]);
    const [saver = ""] = empty.investors;
    await expectDone(withdraw(untilKnown(client), saver, "100"));
    await expectBalances(client, { [saver]: "0", [empty.login]: "0" });
    // For good, with its deals; the other ones are restored later.
    await client.control("DELETE", `accounts/${gone}`);
    for (const login of [back, empty.login]) await client.control("POST", `accounts/${login}/archive`, {});
    // Before that is noticed, and before it is confirmed, the pool is as it was.
    await expectDone(withdraw(client, other, "5"));
    await untilState(client, "not_shown", gone, back);
    await expectDone(withdraw(client, other, "5"));
    await expectProof(client, pool);
    expect([await stateOf(client, gone), await stateOf(client, back)]).toEqual(["not_shown", "not_shown"]);
    await expectNoBreak(client, pool);
    await untilState(client, "archived", gone, back, empty.login);
    await expectProof(client, pool);
    await expectMoneyToWait(empty, saver);

    await bookResult(client, pool.login, "100");
    await expectBalances(client, { [other]: "1090", [pool.login]: "1090" });
    await expectDone(withdraw(untilKnown(client), other, "10"));
    const balance = await client.get(`/api/v1/info/balance/${gone}`);
    expect(balance.body, balance.text).toMatchObject({
      ok: false,
      error: expect.stringContaining("archived or deleted"),
    });
    const paid = await deposit(client, gone, "1", "late");
    expectProblem(paid, { ...ARCHIVED, members: { ...ARCHIVED.members, operation_id: expect.any(String) } });
    const left = await expectDone(unassign(untilKnown(client), pool.login, gone));
    expect(left.body, left.text).toMatchObject({ amount: "0", subscription: { status: "CANCELLED" } });
    expectProblem(await assign(client, pool.login, gone), ARCHIVED);
    await expectNoBreak(client, pool);

    await client.control("POST", `accounts/${back}/restore`, {});
    await eventually(async () => {
      await expectDone(deposit(untilKnown(client), back, "20", `back-${performance.now()}`));
    }, FOUND_WITHIN_MS);
    await eventually(async () => expect(await platformBalanceOf(client, back)).toBeGreaterThan(0n));
    // A dealer gives the login of the deleted account to another person.
    await client.control("POST", "accounts", {
      login: Number(gone),
      group: "pamm\\investor",
      name: "Bob",
      balance: "7",
    });
    await reviewAbout(client, gone, "other_account", FOUND_WITHIN_MS);
    expectProblem(await withdraw(client, gone, "7"), ARCHIVED);
    expect(await stateOf(client, gone)).toBe("archived");
  },
);

test.concurrent(
  "a payment account that is gone holds up nothing while no fee is due; then fees wait for it, and another account ends it",
  TIMEOUT,
  async () => {
    const pool = await pooled(client, ["1000", "1000"]);
    const [first = "", second = ""] = pool.investors;
    // Each at the first try: before that is noticed, and before it is confirmed.
    await client.control("POST", `accounts/${pool.paymentLogin}/archive`, {});
    await expectDone(withdraw(client, first, "5"));
    await untilState(client, "not_shown", pool.paymentLogin);
    await expectDone(withdraw(client, first, "5"));
    await expectDone(deposit(client, first, "10", "back"));
    await expectNoBreak(client, pool);
    await untilState(client, "archived", pool.paymentLogin);
    await expectBalances(client, { [pool.login]: "2000" });
    await bookResult(client, pool.login, "200");
    await expectBalances(client, { [first]: "1100", [second]: "1100" });
    await expectDone(withdraw(untilKnown(client), first, "500"));
    await expectDone(unassign(untilKnown(client), pool.login, second));
    await expectBalances(client, { [first]: "600", [second]: "1100" });

    const next = await existingAccount(client);
    await expectDone(changePaymentAccount(untilKnown(client), pool.id, next));
    await expectBalances(client, { [next]: "60", [first]: "570", [second]: "1070" }, FOUND_WITHIN_MS);
  },
);
