import { expect, test, vi } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { listReviews } from "#kernel/review/list-reviews.ts";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { payFees } from "../../jobs/pay-fees.ts";
import { readAllocations } from "../../jobs/read-allocations.ts";
import { aCall, INVESTOR, MASTER, OTHER_MASTER } from "../../testing/fee.ts";
import { decideLeave } from "../../testing/leaving.ts";
import {
  anInvestor,
  aWorld,
  balanceOf,
  expectToReconcile,
  runsOf,
  endWeek,
  owe,
  receive,
  paymentsOf,
  result,
  settle,
  passTime,
} from "../../testing/world.ts";
import { decideReview } from "../../commands/decide-review.ts";
import { prepare } from "../../commands/crystallise.ts";
import { lockMaster } from "../../store/masters.ts";
import { readMaster } from "./read-master.ts";

const numbers = sql`select number from allocation_entry order by number`;

test("concurrent readers record each entry of a Master once, and later reads continue after it", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "100.00" });
  for (let count = 0; count < 30; count += 1) result(world, { [INVESTOR]: "+1.00" });
  await Promise.all([1, 2, 3, 4].map(() => readMaster(world.deps, MASTER, aCall())));
  expect(await many(world.deps.pool, numbers)).toHaveLength(30);
  result(world, { [INVESTOR]: "+1.00" });
  await prepare(world.deps, { masterLogin: MASTER }, aCall());
  expect(await many(world.deps.pool, numbers)).toHaveLength(31);
});

test("a week is decided while a Master is locked that one of its Investors owes fees to, and that debt waits", async () => {
  const world = await aWorld();
  const { pool } = world.deps;
  await anInvestor(world, { deposit: "1000.00" });
  await anInvestor(world, { login: "9002" });
  result(world, { 9002: "+1.00" }, OTHER_MASTER);
  await readMaster(world.deps, OTHER_MASTER, aCall());
  await owe(pool, INVESTOR, OTHER_MASTER);
  const closeWeek = () => (result(world, { [INVESTOR]: "+100.00" }), endWeek(world, { [INVESTOR]: "0.00" }));
  closeWeek();
  await inTransaction(pool, async (tx) => {
    await lockMaster(tx, OTHER_MASTER);
    await readMaster(world.deps, MASTER, aCall());
  });
  const due = async () => (await paymentsOf(world)).map(({ due: amount }) => amount);
  expect(await due()).toEqual(["30.00"]);
  closeWeek();
  await readMaster(world.deps, MASTER, aCall());
  expect(await due()).toEqual(["30.00", "30.00", "30.00"]);
});

test("entries with more parts than one answer are recorded completely", async () => {
  const world = await aWorld();
  const logins = Array.from({ length: 20 }, (_, index) => String(9_001 + index));
  for (const login of logins) await anInvestor(world, { login, deposit: "100.00" });
  const all = (amount: string) => Object.fromEntries(logins.map((login) => [login, amount]));
  world.subscriptions.maxRows = 7;
  result(world, { 9001: "+1.00", 9002: "+1.00" });
  result(world, all("+10.00"));
  result(world, { 9001: "+1.00" });
  endWeek(world, all("0.00"));
  await settle(world);
  const parts = sql`select number, count(*)::int as count from allocation_part group by 1 order by 1`;
  expect(await many(world.deps.pool, parts)).toEqual([
    { number: 1n, count: 2 },
    { number: 2n, count: 20 },
    { number: 3n, count: 1 },
    { number: 4n, count: 20 },
  ]);
  expect((await paymentsOf(world)).map(({ paid }) => paid)).toEqual(["3.60", "3.30", ...Array(18).fill("3.00")]);
});

test("the payments of a large pool are due, and settled, while the rest of its week is decided", async () => {
  const world = await aWorld();
  const logins = ["9001", "9002", "9003", "9004", "9005"];
  for (const login of logins) await anInvestor(world, { login, deposit: "100.00" });
  const all = (amount: string) => Object.fromEntries(logins.map((login) => [login, amount]));
  result(world, all("+10.00"));
  endWeek(world, all("0.00"));
  world.subscriptions.maxRows = 2;
  const { readAllocationRows } = world.deps.subscriptions;
  const lost = { ...world.deps.subscriptions, readAllocationRows };
  let reads = 0;
  lost.readAllocationRows = async (request, context) => {
    if ((reads += 1) > 5) throw new Error("connection lost");
    return await readAllocationRows(request, context);
  };
  await expect(readMaster({ ...world.deps, subscriptions: lost }, MASTER, aCall())).rejects.toThrow("connection lost");
  await payFees(world.deps);
  expect((await paymentsOf(world)).map(({ status }) => status)).toEqual([
    "EXECUTED",
    "EXECUTED",
    "EXECUTED",
    "EXECUTED",
  ]);
  expect(await runsOf(world)).toMatchObject([{ kind: "WEEKLY", status: "CALCULATING" }]);

  await readMaster(world.deps, MASTER, aCall());
  expect(await runsOf(world)).toMatchObject([{ kind: "WEEKLY", status: "EXECUTING" }]);
  await settle(world);
  expect(await runsOf(world)).toMatchObject([{ kind: "WEEKLY", status: "EXECUTED" }]);
  expect(await paymentsOf(world)).toHaveLength(5);
  await expectToReconcile(world);
});

test("a reading that is out of time continues where it ended", async () => {
  const world = await aWorld();
  for (const login of ["9001", "9002"]) await anInvestor(world, { login, deposit: "100.00" });
  for (let count = 0; count < 4; count += 1) result(world, { 9001: "+1.00", 9002: "+1.00" });
  world.subscriptions.maxRows = 3;
  const untilMs = performance.now();
  expect(await readMaster(world.deps, MASTER, aCall(), { untilMs })).toEqual({ number: 0n, isEnd: false });
  expect(await readMaster(world.deps, MASTER, aCall())).toEqual({ number: 4n, isEnd: true });
  expect(await many(world.deps.pool, sql`select count(*)::int as count from allocation_part`)).toEqual([{ count: 8 }]);
});

test("a gap stops its Master until a review is decided, and no other Master", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  result(world, { [INVESTOR]: "+100.00" });
  result(world, { [INVESTOR]: "+100.00" });
  result(world, { [INVESTOR]: "+100.00" }, OTHER_MASTER);
  world.subscriptions.allocations.get(MASTER)!.entries.splice(0, 1);
  await receive(world);
  await readAllocations(world.deps);
  const masters = sql`select master_login as login, read_number as read, stopped_reason as reason from fee_master order by 1`;
  expect(await many(world.deps.pool, masters)).toEqual([
    { login: MASTER, read: 0n, reason: "entry 1 is missing, 2 was received instead" },
    { login: OTHER_MASTER, read: 1n, reason: null },
  ]);
  await expect(decideLeave(world)).rejects.toMatchObject({ code: "safety_stop", status: "unavailable" });
  await passTime(world);
  expect(await readAllocations(world.deps)).toBe(false);
});

test("a stopped Master is resumed by two votes, once its next allocations can be read", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  result(world, { [INVESTOR]: "+100.00" });
  result(world, { [INVESTOR]: "+100.00" });
  endWeek(world, { [INVESTOR]: "0.00" });
  const { entries } = world.subscriptions.allocations.get(MASTER)!;
  const [lost] = entries.splice(0, 1);
  await receive(world);
  await readAllocations(world.deps);
  const { items } = await listReviews(world.deps.pool, { afterId: 0n, limit: 10, state: ReviewState.UNSPECIFIED });
  expect(items).toMatchObject([{ reason: "allocations_unreadable", login: MASTER, actions: ["read_again"] }]);
  expect(JSON.parse(items[0]?.evidence ?? "")).toEqual({
    why: "entry 1 is missing, 2 was received instead",
    read_number: "0",
  });
  const request = {
    reviewId: items[0]?.id ?? 0n,
    action: "read_again",
    dealId: 0n,
    note: "checked",
    keyId: "KeyOfOneTest",
  };
  const vote = (actor: string) => decideReview(world.deps, { ...request, actor }, aCall());
  await expect(vote("anna")).rejects.toMatchObject({ code: "action_not_possible" });
  entries.unshift(lost!);
  await vote("anna");
  await expect(vote("anna")).rejects.toMatchObject({ code: "second_approver_required" });
  await vote("boris");
  await settle(world);
  expect(balanceOf(world, INVESTOR)).toBe("1140.00");
});

test("allocations that end before the last read entry stop their Master", async () => {
  const world = await aWorld();
  result(world, { [INVESTOR]: "+100.00" });
  result(world, { [INVESTOR]: "+100.00" });
  await readMaster(world.deps, MASTER, aCall());
  world.subscriptions.allocations.get(MASTER)!.entries.pop();
  await expect(readMaster(world.deps, MASTER, aCall())).rejects.toMatchObject({ code: "safety_stop" });
});

test("an invalid entry stops its Master", async () => {
  const world = await aWorld();
  const { entries } = (result(world, { [INVESTOR]: "+1.00" }), world.subscriptions.allocations.get(MASTER)!);
  entries[0] = { number: 1n, entry: undefined };
  await expect(readMaster(world.deps, MASTER, aCall())).rejects.toMatchObject({ code: "safety_stop" });
});

const CUT_OFF = new Date("2026-01-10T00:00:00Z");

test.each([
  ["without a start", { periodStart: undefined, cutOff: CUT_OFF }],
  ["without a cut-off", { periodStart: CUT_OFF, cutOff: undefined }],
  ["whose start equals its cut-off", { periodStart: CUT_OFF, cutOff: CUT_OFF }],
])("a week %s stops its Master", async (_which, period) => {
  const world = await aWorld();
  endWeek(world, {});
  const { entries } = world.subscriptions.allocations.get(MASTER)!;
  entries[0] = { number: 1n, entry: { $case: "week", value: { ...period, markedAt: undefined } } };
  await expect(readMaster(world.deps, MASTER, aCall())).rejects.toMatchObject({ code: "safety_stop" });
});

test("a closed week, and no result before it, wakes the payments", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  const notify = vi.spyOn(world.deps.wakeSignals.payments, "notify");
  result(world, { [INVESTOR]: "+100.00" });
  await readMaster(world.deps, MASTER, aCall());
  expect(notify).not.toHaveBeenCalled();
  endWeek(world, { [INVESTOR]: "0.00" });
  await readMaster(world.deps, MASTER, aCall());
  expect(notify).toHaveBeenCalledOnce();
});

test("allocations are read again after the subscription service was unreachable", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  result(world, { [INVESTOR]: "+100.00" });
  endWeek(world, { [INVESTOR]: "0.00" });
  const subscriptions = {
    ...world.deps.subscriptions,
    readAllocations: async (): Promise<never> => {
      throw new Error("connection lost");
    },
  };
  await receive(world);
  await readAllocations({ ...world.deps, subscriptions });
  expect(await many(world.deps.pool, numbers)).toEqual([]);
  await passTime(world);
  await settle(world);
  expect(balanceOf(world, INVESTOR)).toBe("1070.00");
});

test("a stopped Master is not resumed while the parts of its next entries cannot be read", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  result(world, { [INVESTOR]: "+100.00" });
  const { rows } = world.subscriptions.allocations.get(MASTER)!;
  const [part] = rows;
  const { subscriptions } = world.deps;
  const readAllocationRows: typeof subscriptions.readAllocationRows = async () => ({
    rows: [{ ...part!, number: 2n }],
    hasMore: false,
  });
  const deps = { ...world.deps, subscriptions: { ...subscriptions, readAllocationRows } };
  await expect(readMaster(deps, MASTER, aCall())).rejects.toMatchObject({ code: "safety_stop" });
  const request = {
    reviewId: 1n,
    action: "read_again",
    dealId: 0n,
    note: "checked",
    actor: "anna",
    keyId: "KeyOfOneTest",
  };

  await expect(decideReview(deps, request, aCall())).rejects.toMatchObject({
    code: "action_not_possible",
    message: expect.stringContaining("a part of entry 2 was not requested"),
  });
  await decideReview(world.deps, request, aCall());
  await decideReview(world.deps, { ...request, actor: "boris" }, aCall());
  expect(await readMaster(world.deps, MASTER, aCall())).toEqual({ number: 1n, isEnd: true });
});
