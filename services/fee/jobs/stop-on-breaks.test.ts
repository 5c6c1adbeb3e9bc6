import { expect, test, vi } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { stopOnBreaks } from "#kernel/reconcile/stop-on-breaks.ts";
import { countLockWaiters } from "#test/support/lock-waiters.ts";
import type { Deps } from "../deps.ts";
import { MASTER, OTHER_MASTER, OTHER_PAYMENT_ACCOUNT, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import { insertMaster } from "../store/masters.ts";
import { aPaymentBreak, detectBreaks, resume, reviewsOf, vote, stopsOf, appendToLog } from "../testing/safety.ts";
import { aWeek, anInvestor, aWorld, settle, type World } from "../testing/world.ts";
import { stopForBreak, stoppingBreaks } from "../processes/stop-for-break.ts";

/** Two Masters; the fee service knows both, and has read the logs of their payment accounts. */
async function twoMasters(): Promise<World> {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  aWeek(world, { 9001: "+100.00" });
  await settle(world);
  await insertMaster(world.deps.pool, OTHER_MASTER, OTHER_PAYMENT_ACCOUNT);
  await detectBreaks(world.deps);
  expect(await stopsOf(world)).toEqual({ [MASTER]: null, [OTHER_MASTER]: null });
  return world;
}

test("a break on a payment account stops its Master, and no other", async () => {
  const world = await twoMasters();
  world.platform.breaks.push(aPaymentBreak(1n));
  await detectBreaks(world.deps);
  expect(await stopsOf(world)).toEqual({ [MASTER]: "deal_matching: a deal is missing", [OTHER_MASTER]: null });
});

test("a break of a transfer stops the Master whose payment account its second leg credits", async () => {
  const world = await twoMasters();
  const evidence = JSON.stringify({ legs: [{ login: "9001" }, { login: OTHER_PAYMENT_ACCOUNT }, { login: null }] });
  world.platform.breaks.push(aPaymentBreak(1n, { check: "transfer_legs", login: "9001", evidence }));
  await detectBreaks(world.deps);
  expect(await stopsOf(world)).toMatchObject({ [MASTER]: null, [OTHER_MASTER]: "transfer_legs: a deal is missing" });
});

test("breaks about overdue operations and breaks on other accounts stop no Master", async () => {
  const world = await twoMasters();
  world.platform.breaks.push(
    aPaymentBreak(1n, { check: "unresolved_operations" }),
    aPaymentBreak(2n, { login: MASTER, masterLogin: MASTER }),
  );
  world.platform.breaks.push(aPaymentBreak(3n, { login: "9001" }));
  await detectBreaks(world.deps);
  expect(await stopsOf(world)).toEqual({ [MASTER]: null, [OTHER_MASTER]: null });
  expect(await reviewsOf(world)).toEqual([]);
});

test("a break that the fee service found stops its Master, also while the platform service is unreachable", async () => {
  const world = await twoMasters();
  await world.deps.pool.query(`
    insert into reconciliation_check (name, title, every_ms) values ('fee_payments', 'fees', 60000);
    insert into reconciliation_break (check_name, key, opened_at, seen_at, login, master_login, at_risk_minor, operation_ids,
                                      deal_ids, message, evidence)
    values ('fee_payments', 'twice:1:9001', now(), now(), '9001', '${OTHER_MASTER}', 3, '{}', '{}', 'paid twice', '{"a": 1}')`);
  const listBreaks = async (): Promise<never> => {
    throw new Error("connection lost");
  };
  const deps: Deps = { ...world.deps, platform: { ...world.deps.platform, listBreaks } };
  await expect(stopOnBreaks(deps.pool, stoppingBreaks(deps))).rejects.toThrow("connection lost");
  expect(await stopsOf(world)).toEqual({ [MASTER]: null, [OTHER_MASTER]: "fee_payments: paid twice" });
  const [review] = await reviewsOf(world);
  expect(JSON.parse(review?.evidence ?? "")).toMatchObject({ breaks: [{ account: "9001", compared: { a: 1 } }] });
});

test("a break of the profit that fees follow from stops the fees of its Master, and other breaks of its pool do not", async () => {
  const world = await twoMasters();
  const ofPool = { login: "9001", masterLogin: OTHER_MASTER };
  world.subscriptions.breaks.push(aPaymentBreak(1n, { ...ofPool, check: "pool_ledger" }));
  await detectBreaks(world.deps);
  expect(await stopsOf(world)).toEqual({ [MASTER]: null, [OTHER_MASTER]: null });
  world.subscriptions.breaks.push(
    aPaymentBreak(2n, { ...ofPool, check: "investor_profits", message: "the mark decreased" }),
  );
  await detectBreaks(world.deps);
  expect(await stopsOf(world)).toEqual({ [MASTER]: null, [OTHER_MASTER]: "investor_profits: the mark decreased" });
});

test("an amendment in the log stops the Master before a check runs, and the check opens no second review", async () => {
  const world = await twoMasters();
  appendToLog(world);
  appendToLog(world, { reason: "unmatched_deal" });
  await detectBreaks(world.deps);
  const why = `unmatched_deal: deal 4711 on payment account ${PAYMENT_ACCOUNT}`;
  expect(await stopsOf(world)).toEqual({ [MASTER]: why, [OTHER_MASTER]: null });
  const [review] = await reviewsOf(world);
  expect(review).toMatchObject({ reason: "fees_do_not_tie", login: MASTER, dealId: 4_711n, actions: ["resume"] });
  expect(JSON.parse(review?.evidence ?? "")).toMatchObject({ why, deal_ids: ["4711"] });

  await resume(world, review!.id);
  world.platform.breaks.push(aPaymentBreak(1n, { key: `unmatched_deal:${PAYMENT_ACCOUNT}:4711` }));
  await detectBreaks(world.deps);
  expect(await stopsOf(world)).toEqual({ [MASTER]: null, [OTHER_MASTER]: null });
});

test("after a decision to resume only a new break stops the Master again", async () => {
  const world = await twoMasters();
  const differs = { check: "platform_balance", dealIds: [], message: "the balance differs" };
  world.platform.breaks.push(aPaymentBreak(1n, differs));
  await detectBreaks(world.deps);
  const [review] = await reviewsOf(world);
  await expect(vote(world.deps, review!.id, "anna")).resolves.toBeDefined();
  await expect(vote(world.deps, review!.id, "anna")).rejects.toMatchObject({ code: "second_approver_required" });
  expect(await stopsOf(world)).toMatchObject({ [MASTER]: "platform_balance: the balance differs" });
  await vote(world.deps, review!.id, "boris");
  await detectBreaks(world.deps);
  expect(await stopsOf(world)).toMatchObject({ [MASTER]: null });
  world.platform.breaks.push(aPaymentBreak(2n, differs));
  await detectBreaks(world.deps);
  expect(await stopsOf(world)).toMatchObject({ [MASTER]: "platform_balance: the balance differs" });
});

test("after a crash no break is marked as handled without its Master being stopped", async () => {
  const world = await twoMasters();
  world.platform.breaks.push(aPaymentBreak(1n));
  appendToLog(world, { login: OTHER_PAYMENT_ACCOUNT, reason: "deal_gone" });
  const now = (): never => {
    throw new Error("crash");
  };
  const crashing = stoppingBreaks({ ...world.deps, now });
  await expect(stopOnBreaks(world.deps.pool, crashing)).rejects.toThrow("crash");
  await expect(detectBreaks({ ...world.deps, now })).rejects.toThrow("crash");
  expect(await stopsOf(world)).toEqual({ [MASTER]: null, [OTHER_MASTER]: null });
  await Promise.all([detectBreaks(world.deps), detectBreaks(world.deps)]);
  expect(Object.values(await stopsOf(world)).filter((reason) => reason !== null)).toHaveLength(2);
  const cases = (await reviewsOf(world)).map(({ evidence }) => JSON.parse(evidence) as { breaks: unknown[] });
  expect(cases.map(({ breaks }) => breaks.length)).toEqual([1, 1]);
});

test("the log of an account is scanned in pages, from its end at the first scan", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  appendToLog(world, { reason: "deal_gone" });
  await insertMaster(world.deps.pool, MASTER, PAYMENT_ACCOUNT);
  await detectBreaks(world.deps);
  expect(await stopsOf(world)).toEqual({ [MASTER]: null });
  for (let credit = 0; credit < 1_500; credit += 1) appendToLog(world);
  appendToLog(world, { reason: "deal_changed", dealId: 5n });
  await detectBreaks(world.deps);
  expect(await stopsOf(world)).toMatchObject({ [MASTER]: expect.stringContaining("deal_changed: deal 5") });
});

test("the Masters of a page of breaks are read by one statement", async () => {
  const { deps, platform } = await twoMasters();
  const statements = async (): Promise<number> => {
    await detectBreaks(deps);
    const connect = vi.spyOn(deps.pool, "connect");
    await stopOnBreaks(deps.pool, stoppingBreaks(deps));
    const count = connect.mock.calls.length;
    connect.mockRestore();
    return count;
  };
  platform.breaks.push(aPaymentBreak(1n));
  const ofOne = await statements();
  platform.breaks.push(aPaymentBreak(2n, { check: "transfer_legs" }), aPaymentBreak(3n));
  expect(await statements()).toBe(ofOne);
});

test("of two transactions that stop a Master at the same time, the second adds its break to the review", async () => {
  const { deps } = await twoMasters();
  const mismatch = { account: PAYMENT_ACCOUNT, at_risk_minor: null, deal_ids: [], operation_ids: [], compared: {} };
  const stop = (tx: Transaction, reason: string) => stopForBreak(tx, deps, MASTER, { ...mismatch, reason });
  const { second } = await inTransaction(deps.pool, async (tx) => {
    await stop(tx, "the first");
    const answer = inTransaction(deps.pool, (other) => stop(other, "the second"));
    await expect.poll(() => countLockWaiters(deps.pool), { interval: 5 }).toBe(1);
    return { second: answer };
  });
  await second;
  const [review] = await many<{ breaks: unknown }>(
    deps.pool,
    sql`select evidence->'breaks' as breaks from review_case`,
  );
  expect(review?.breaks).toMatchObject([{ reason: "the first" }, { reason: "the second" }]);
});
