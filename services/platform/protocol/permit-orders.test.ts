import { expect, test } from "vitest";
import type { Pool } from "#kernel/postgres/pool.ts";
import { usd } from "#kernel/values/money.ts";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import type { NewEntry } from "../domain/log-entry.ts";
import { requestLocks } from "../store/account-locks.ts";
import { lockAccount } from "../store/accounts.ts";
import { saveSending } from "../store/leg-transitions.ts";
import { aManagedLogin, aPermitHolder, aWaitingLeg, SERVER } from "../testing/rows.ts";
import { appendToLog } from "./history/append-to-log.ts";
import { type Decision, type Holders, type PermitRequest, permitRequests } from "./permit-requests.ts";
import type { TransferOrder } from "./transfer-order.ts";

const INVESTOR = "1";
const PAYMENT = "9";
const BALANCE = 100_00n;

/** In the sequence of the requests. */
async function decideAll(pool: Pool, requests: readonly PermitRequest[], holders: Holders): Promise<Decision[]> {
  const decisions = await inTransaction(pool, (tx) => permitRequests(tx, SERVER, requests, holders));
  return requests.map((request) => decisions.get(request) ?? { kind: "over" });
}

async function setUp() {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, INVESTOR, { balanceMinor: BALANCE });
  await aManagedLogin(pool, PAYMENT, { role: "payment" });
  const permitHolder = await aPermitHolder(pool);
  const holders = { isReachable: true, of: () => permitHolder };
  const insert = async (...orders: readonly TransferOrder[]): Promise<Decision[]> => {
    const requests = orders.map((order) => ({ kind: "order" as const, order, requestId: "" }));
    return await decideAll(pool, requests, holders);
  };
  return { pool, permitHolder, insert };
}

function aOrder(key: string, legs: TransferOrder["legs"], own: Partial<TransferOrder> = {}): TransferOrder {
  const rest = {
    lockOwner: "",
    floorMinor: undefined,
    floorNumber: undefined,
    isEnqueued: false,
    releasesLock: false,
    sendBefore: undefined,
    generation: undefined,
    comment: "",
  };
  return { key, legs, ...rest, ...own };
}

function deposit(key: string, own: Partial<TransferOrder> = {}): TransferOrder {
  return aOrder(key, [{ login: INVESTOR, kind: "deposit", amountMinor: 5_00n }], own);
}

function result(key: string): TransferOrder {
  return aOrder(key, [{ login: INVESTOR, kind: "result", amountMinor: 5_00n }]);
}

function fee(key: string, own: Partial<TransferOrder> = {}, credited = PAYMENT): TransferOrder {
  const debit = { login: INVESTOR, kind: "fee_debit", amountMinor: -40_00n } as const;
  return aOrder(key, [debit, { login: credited, kind: "fee_credit", amountMinor: 40_00n }], own);
}

async function legs(pool: Pool) {
  return await many(
    pool,
    sql`select login, state, refusal, requested_minor as requested, amount_minor as amount, is_ready as ready
        from leg order by number`,
  );
}

function refusal(code: string) {
  return { kind: "refused", refusal: expect.objectContaining({ code, outcome: "not_executed" }) as unknown };
}

const WAITS = { kind: "recorded", permit: undefined };

test("on a free login the first leg gets its permit with the order, and the second leg waits for it", async () => {
  const { pool, insert, permitHolder } = await setUp();

  expect(await insert(fee("a"))).toMatchObject([
    { kind: "recorded", permit: { attempt: 1, grantedAtMs: permitHolder.grantedAtMs, leg: { login: INVESTOR } } },
  ]);
  expect(await legs(pool)).toEqual([
    { login: INVESTOR, state: "SENDING", refusal: null, requested: -40_00n, amount: -40_00n, ready: true },
    { login: PAYMENT, state: "INTENT", refusal: null, requested: 40_00n, amount: 40_00n, ready: false },
  ]);
});

test("each of several orders gets the permit for its own first leg", async () => {
  const { pool, insert } = await setUp();
  for (const login of ["2", "3"]) await aManagedLogin(pool, login);
  const others = ["2", "3"].map((login) => aOrder(login, [{ login, kind: "deposit", amountMinor: 7n }]));

  const answers = await insert(fee("1"), ...others);

  for (const answer of answers) {
    if (answer.kind !== "recorded" || answer.permit === undefined) throw new Error("a free login has no permit");
    const { number, login, amountMinor } = answer.permit.leg;
    const rows = await many(pool, sql`select login, amount_minor as amount from leg where number = ${number}`);
    expect(rows).toEqual([{ login, amount: amountMinor }]);
    expect(login).toBe(answer.permit.leg.key);
  }
  const attempts = await many(
    pool,
    sql`select ordinal from attempt join leg on leg.number = leg_number order by leg_number`,
  );
  expect(attempts).toEqual([{ ordinal: 1 }, { ordinal: 1 }, { ordinal: 1 }]);
});

test("a key is recorded once, and an order with an unmanaged login on either side is refused", async () => {
  const { pool, insert } = await setUp();
  await insert(deposit("a"));

  expect(await insert(deposit("a"))).toMatchObject([{ kind: "known", legs: [{ key: "a" }] }]);
  expect(await insert(fee("b", {}, "7"))).toEqual([refusal("login_not_managed")]);
  expect(await insert(aOrder("c", [{ login: "7", kind: "deposit", amountMinor: 1n }]))).toEqual([
    refusal("login_not_managed"),
  ]);
  expect(await legs(pool)).toHaveLength(1);
});

test("a saga moves money only under its own account lock, and only after the lock is granted", async () => {
  const { pool, insert } = await setUp();

  expect(await insert(deposit("a", { lockOwner: "saga" }))).toEqual([refusal("lock_not_owned")]);
  const earlier = await aWaitingLeg(pool, { key: "earlier", login: INVESTOR });
  expect(await inTransaction(pool, (tx) => requestLocks(tx, [{ login: INVESTOR, lockOwner: "saga" }]))).toEqual(
    new Map([[INVESTOR, { obstacle: earlier, isCreated: false, log: { balanceMinor: BALANCE, hasPositions: false } }]]),
  );
  expect(await insert(deposit("b", { lockOwner: "saga" }))).toEqual([refusal("lock_not_owned")]);
  await execute(pool, sql`update leg set state = 'REFUSED', refusal = 'absent'`);
  await inTransaction(pool, (tx) => requestLocks(tx, [{ login: INVESTOR, lockOwner: "saga" }]));
  expect(await insert(deposit("c", { lockOwner: "another" }))).toEqual([refusal("lock_not_owned")]);
  expect(await insert(deposit("d", { lockOwner: "saga" }))).toMatchObject([{ kind: "recorded", permit: {} }]);
});

test.each<readonly [string, (pool: Pool) => Promise<unknown>]>([
  [
    "another saga has the account lock",
    (pool) => inTransaction(pool, (tx) => requestLocks(tx, [{ login: INVESTOR, lockOwner: "saga" }])),
  ],
  [
    "facts are being read",
    (pool) =>
      execute(
        pool,
        sql`update account set reading_until = clock_timestamp() + interval '1 minute', reading_token = 't'`,
      ),
  ],
  ["another leg is queued", (pool) => aWaitingLeg(pool, { key: "first" })],
])("while %s a deposit waits, and an order that never waits is refused", async (_what, occupy) => {
  const { pool, insert } = await setUp();
  await occupy(pool);

  expect(await insert(deposit("a"))).toMatchObject([WAITS]);
  expect(await insert(result("b"))).toEqual([refusal("account_busy")]);
});

test("an enqueued order is permitted when it is its turn, and waits behind another one", async () => {
  const { pool, insert } = await setUp();

  expect(await insert(deposit("a", { isEnqueued: true }))).toMatchObject([
    { kind: "recorded", permit: { attempt: 1 } },
  ]);
  expect(await insert(deposit("b", { isEnqueued: true }))).toMatchObject([WAITS]);
  expect(await legs(pool)).toMatchObject([{ state: "SENDING" }, { state: "INTENT" }]);
});

test.each([
  ["the requested amount, if it is available", 60_00n, -40_00n],
  ["the balance above it, with an equal credit", 70_00n, -30_00n],
])("a floor allows %s", async (_what, floorMinor, amount) => {
  const { pool, insert } = await setUp();

  expect(await insert(fee("a", { floorMinor }))).toMatchObject([{ permit: { leg: { amountMinor: amount } } }]);
  expect(await legs(pool)).toMatchObject([
    { requested: -40_00n, amount },
    { requested: 40_00n, amount: -amount },
  ]);
});

test("what was credited after the floor was calculated remains too, except results of the service", async () => {
  const { pool, insert } = await setUp();
  const leg = await aWaitingLeg(pool, { key: "posting", login: PAYMENT, kind: "result" });
  const entry = (amountMinor: bigint, id: bigint, own: Partial<NewEntry> = {}): NewEntry => {
    const deal = { id, serverMsc: undefined };
    return {
      kind: "external",
      amount: usd(amountMinor),
      cause: undefined,
      deal,
      at: new Date(),
      trade: undefined,
      ...own,
    };
  };
  const cause = { leg, transferId: 1n, key: "posting" };
  const entries = [entry(500_00n, 1n), entry(-10_00n, 2n), entry(2_00n, 3n, { kind: "result", cause })];
  await inTransaction(pool, async (tx) => {
    await appendToLog(tx, (await lockAccount(tx, INVESTOR))!, { server: SERVER, entries });
  });

  const floor = { floorMinor: 80_00n, floorNumber: 0n };
  expect(await insert(fee("a", floor))).toMatchObject([{ permit: { leg: { amountMinor: -12_00n } } }]);
});

test.each([
  ["a floor as of the last entry", { floorMinor: 70_00n, floorNumber: 0n }],
  ["a floor as of an entry that a restored database has lost", { floorMinor: 70_00n, floorNumber: 7n }],
])("%s reduces the debit to what is above it", async (_what, floor) => {
  const { insert } = await setUp();
  expect(await insert(fee("a", floor))).toMatchObject([{ permit: { leg: { amountMinor: -30_00n } } }]);
});

test.each([BALANCE, BALANCE + 1n])(
  "without funds above a floor of %s cents the order is recorded as refused",
  async (floorMinor) => {
    const { pool, insert } = await setUp();

    expect(await insert(fee("a", { floorMinor }))).toMatchObject([WAITS]);
    const ended = { state: "REFUSED", refusal: "nothing_to_take", amount: 0n };
    expect(await legs(pool)).toMatchObject([ended, ended]);
  },
);

test("an order that never queues is refused without a session, and asked for again when none was waited for", async () => {
  const { pool } = await setUp();
  const decide = (isReachable: boolean | undefined) =>
    decideAll(pool, [{ kind: "order", order: result("a"), requestId: "" }], { isReachable, of: () => undefined });

  expect(await decide(false)).toEqual([refusal("platform_unavailable")]);
  expect(await decide(undefined)).toEqual([{ kind: "locked" }]);
  expect(await legs(pool)).toEqual([]);
});

test("an order after its deadline is recorded as refused, and nothing is sent", async () => {
  const { pool, insert } = await setUp();

  expect(await insert(deposit("a", { sendBefore: new Date(Date.now() - 60_000) }))).toMatchObject([WAITS]);
  expect(await legs(pool)).toMatchObject([{ state: "REFUSED", refusal: "expired" }]);
});

test("an order on an account that another transaction has locked leaves the batch, and delays no other one", async () => {
  const { pool, insert } = await setUp();
  await aManagedLogin(pool, "2");
  const other = aOrder("b", [{ login: "2", kind: "deposit", amountMinor: 7n }]);

  const decisions = await inTransaction(pool, async (tx) => {
    await lockAccount(tx, INVESTOR);
    return await insert(deposit("a"), other);
  });

  expect(decisions).toMatchObject([{ kind: "locked" }, { kind: "recorded", permit: { attempt: 1 } }]);
  expect(await legs(pool)).toMatchObject([{ login: "2", state: "SENDING" }]);
});

test("a leg that is not in the state that its permit was decided from is not permitted", async () => {
  const { pool, permitHolder } = await setUp();
  const leg = await aWaitingLeg(pool, { key: "a" });
  const permit = { leg, number: 1, reference: "P", senderEpoch: permitHolder.epoch, session: "s/1" };
  await execute(pool, sql`update leg set state = 'REFUSED', refusal = 'absent'`);

  await expect(inTransaction(pool, (tx) => saveSending(tx, [permit]))).rejects.toThrow("while it was locked");
  expect(await legs(pool)).toMatchObject([{ state: "REFUSED" }]);
});
