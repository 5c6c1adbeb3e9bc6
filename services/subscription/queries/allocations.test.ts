import { expect, test } from "vitest";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { deposit, holdForWithdrawal } from "../testing/funding.ts";
import { enter, lastEntry } from "#test/support/platform-fake/ledger.ts";
import { deliver, settle, subscribed } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { readAllocations } from "./read-allocations.ts";
import { aCall, aMaster, anInvestor, aWorld } from "../testing/world.ts";

async function threeResults() {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const pairs = [await subscribed(world, masterLogin, 100_00n), await subscribed(world, masterLogin, 300_00n)];
  const deals = [4_00n, -8_00n, 1n].map((result) => trader(world, masterLogin).result(result));
  await settle(world);
  return { world, masterLogin, pairs, deals };
}

test("allocations are read by number, page by page, with the newest number", async () => {
  const { world, masterLogin, deals } = await threeResults();
  const first = await world.service.readAllocations({ masterLogin, afterNumber: 0n, limit: 2 }, aCall());
  const entry = (index: number) => {
    const { dealId, dealAt, amount: result } = deals[index]!;
    return { number: BigInt(index + 1), entry: { $case: "result", value: { dealId, dealAt, result } } };
  };
  expect(first).toEqual({ entries: [entry(0), entry(1)], lastNumber: 3n });
  const second = await world.service.readAllocations({ masterLogin, afterNumber: 2n, limit: 2 }, aCall());
  expect(second).toEqual({ entries: [entry(2)], lastNumber: 3n });
  const unknown = await world.service.readAllocations({ masterLogin: "99", afterNumber: 0n, limit: 2 }, aCall());
  expect(unknown).toEqual({ entries: [], lastNumber: 0n });
});

test("an entry that is committed while allocations are read is not reported as missing", async () => {
  const { world, masterLogin } = await threeResults();
  let queries = 0;
  const query = world.deps.pool.query.bind(world.deps.pool) as (...args: unknown[]) => Promise<unknown>;
  const pool = Object.assign(Object.create(world.deps.pool) as typeof world.deps.pool, {
    async query(...args: unknown[]) {
      const answer = await query(...args);
      queries += 1;
      if (queries > 1) return answer;
      trader(world, masterLogin).result(2_00n);
      await settle(world);
      return answer;
    },
  });
  const page = await readAllocations({ ...world.deps, pool }, { masterLogin, afterNumber: 3n, limit: 2 });
  expect([page.entries.map(({ number }) => number), page.lastNumber]).toEqual([[4n], 4n]);
});

test("allocation rows of a range are read page by page, without parts of 0.00", async () => {
  const { world, masterLogin, pairs } = await threeResults();
  const [one, two] = pairs.map(({ id: subscriptionId, investorLogin }) => ({ subscriptionId, investorLogin }));
  const range = { masterLogin, afterNumber: 0n, afterSubscriptionId: 0n, throughNumber: 3n };
  const row = (number: bigint, of: typeof one, amountMinor: bigint) => ({ number, ...of, amountMinor, floatingE8: 0n });
  expect(await world.service.readAllocationRows({ ...range, limit: 3 }, aCall())).toEqual({
    rows: [row(1n, one, 1_00n), row(1n, two, 3_00n), row(2n, one, -2_00n)],
    hasMore: true,
  });
  const after = { afterNumber: 2n, afterSubscriptionId: one!.subscriptionId };
  expect(await world.service.readAllocationRows({ ...range, ...after, limit: 3 }, aCall())).toEqual({
    rows: [row(2n, two, -6_00n), row(3n, two, 1n)],
    hasMore: false,
  });
  expect(await world.service.readAllocationRows({ ...range, ...after, throughNumber: 2n, limit: 3 }, aCall())).toEqual({
    rows: [row(2n, two, -6_00n)],
    hasMore: false,
  });
});

test("the fee floor is external funds, inbound money and unposted losses", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const { investorLogin } = await subscribed(world, masterLogin, 100_00n);
  const outside = anInvestor(world, 50_00n);
  await deliver(world);
  const { ledger } = world.platform;
  const floors = async () => {
    const answer = await world.service.getFeeFloors({ investorLogins: [investorLogin, outside, "99"] }, aCall());
    return answer.floors;
  };
  const floor = (login: string, minor: bigint, filedNumber = lastEntry(ledger, login).number) => ({
    investorLogin: login,
    floor: moneyToProto(usd(minor)),
    filedNumber,
  });
  expect(await floors()).toEqual([floor(investorLogin, 0n), floor(outside, 0n)]);
  const { number: filed } = lastEntry(ledger, investorLogin);
  enter(ledger, investorLogin, { kind: MovementKind.EXTERNAL, amount: 7_00n });
  expect(await floors()).toEqual([floor(investorLogin, 0n, filed), floor(outside, 0n)]);
  await deposit(world, investorLogin, 20_00n);
  await deliver(world);
  expect(await floors()).toEqual([floor(investorLogin, 27_00n), floor(outside, 0n)]);
  await settle(world);
  expect(await floors()).toEqual([floor(investorLogin, 7_00n), floor(outside, 0n)]);
  await holdForWithdrawal(world, investorLogin, 1n);
  trader(world, masterLogin).result(-30_00n);
  await settle(world);
  expect(await floors()).toEqual([floor(investorLogin, 37_00n), floor(outside, 0n)]);
});

test("a request with several invalid fields is refused with all of them", async () => {
  const { service } = await aWorld();
  await expect(
    service.readAllocations({ masterLogin: "x", afterNumber: -1n, limit: 501 }, aCall()),
  ).rejects.toMatchObject({
    code: "validation_failed",
    errors: [{ field: "master_login" }, { field: "after_number" }, { field: "limit" }],
  });
  const range = { masterLogin: "", afterNumber: -1n, afterSubscriptionId: -1n, throughNumber: -1n, limit: 5_001 };
  await expect(service.readAllocationRows(range, aCall())).rejects.toMatchObject({
    errors: ["master_login", "after_number", "after_subscription_id", "through_number", "limit"].map((field) => ({
      field,
    })),
  });
  await expect(service.getFeeFloors({ investorLogins: [] }, aCall())).rejects.toMatchObject({
    code: "validation_failed",
  });
});
