import { expect, test } from "vitest";
import { type TestPool, aPool } from "./trading-pairs.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import type { Review } from "#proto/pamm/common/v1/review.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { balanceOf, enter } from "#test/support/platform-fake/ledger.ts";
import { endings } from "../checks/endings.ts";
import { externalFundsMaster } from "../checks/external-funds.ts";
import { expectBooksToReconcile } from "./books.ts";
import { withdraw } from "./funding.ts";
import {
  cents,
  entriesOf as timelineOf,
  inBucket,
  holdingOf,
  partsOf,
  balances,
  findingsOf,
  sharesOf,
} from "./ledger.ts";
import { decide, reviewsOf, reviewWithReason, vote } from "./reviews.ts";
import { type Pair, settle, subscribed } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall, aMaster, anAssignment, aWorld, passTime } from "./world.ts";

const { EXTERNAL } = MovementKind;

type Pool = Omit<TestPool, "logins">;

/** A deal of the trader; its ticket. */
async function traded({ world, master }: Pool, amount: bigint, at?: Date): Promise<bigint> {
  const { dealId } = master.result(amount, at === undefined ? {} : { at });
  await settle(world);
  return dealId;
}

/** A dealer moves money on the Master. */
async function booked({ world, masterLogin }: Pool, amount: bigint, kind: MovementKind = EXTERNAL): Promise<Review> {
  enter(world.platform.ledger, masterLogin, { kind, amount });
  await settle(world);
  return await reviewWithReason(world, "external_funds_on_master");
}

async function allocate(pool: Pool, review: Review, dealId = 0n): Promise<void> {
  await decide(pool.world, review, "allocate", dealId);
  await settle(pool.world);
}

/** Pooled amounts of the Investors, and own capital. */
const shares = ({ world, masterLogin }: Pool) => sharesOf(world, masterLogin);

async function expectNothingLeft({ world, masterLogin }: Pool): Promise<void> {
  await expectBooksToReconcile(world);
  expect(await reviewsOf(world)).toEqual([]);
  expect(await findingsOf(externalFundsMaster(world.deps))).toEqual([]);
  const request = { masterLogin, afterSubscriptionId: 0n, limit: 10 };
  expect(await world.service.getProof(request, aCall())).toMatchObject({ converged: true });
}

/** The parts of each allocation entry by number, with the time and the ticket of its deal. */
async function entriesOf({ world: { deps } }: Pool) {
  return await many(
    deps.pool,
    sql`select deal_id, result_minor, own_minor,
               (select array_agg(amount_minor order by subscription_id) from allocation_row as part
                where part.master_login = entry.master_login and part.number = entry.number) as parts
        from allocation_entry as entry
        where kind = 'RESULT'
        order by number`,
  );
}

test("a bad tick is given back to those who had it, with the ticket and the time of that deal", async () => {
  const pool = await aPool(await aWorld(), 6_000_00n, 4_000_00n);
  const tick = await traded(pool, -1_000_00n);
  expect(await shares(pool)).toEqual([5_400_00n, 3_600_00n, 0n]);
  const review = await booked(pool, 1_000_00n);
  expect(review.actions).toEqual(["acknowledge", "allocate"]);
  await allocate(pool, review, tick);
  expect(await shares(pool)).toEqual([6_000_00n, 4_000_00n, 0n]);
  expect(await entriesOf(pool)).toEqual([
    { deal_id: tick, result_minor: -1_000_00n, own_minor: 0n, parts: [-600_00n, -400_00n] },
    { deal_id: tick, result_minor: 1_000_00n, own_minor: 0n, parts: [600_00n, 400_00n] },
  ]);
  const times = sql`select count(distinct deal_at)::integer as times from allocation_entry`;
  expect(await many(pool.world.deps.pool, times)).toEqual([{ times: 1 }]);
  for (const { investorLogin } of pool.pairs) {
    const index = pool.pairs.findIndex((pair) => pair.investorLogin === investorLogin);
    expect(balanceOf(pool.world.platform.ledger, investorLogin)).toBe([6_000_00n, 4_000_00n][index]);
  }
  await expectNothingLeft(pool);
});

test.each([
  ["rounded to 0.00", -2n],
  ["was 0.00 for all", 0n],
])(
  "a repair of a deal whose part %s is divided by the units of that time, and no part of 0.00 is shown",
  async (_what, result) => {
    const pool = await aPool(await aWorld(), 300_00n, 200_00n, 100_00n);
    const { world, masterLogin, master, pairs } = pool;
    const position = master.open();
    const { dealId } = master.close(position, { profit: result });
    await settle(world);
    const before = await shares(pool);
    expect(before).toEqual(result === 0n ? [300_00n, 200_00n, 100_00n, 0n] : [299_99n, 199_99n, 100_00n, 0n]);
    const amounts = (await partsOf(world, masterLogin, 1n)).map(([amount]) => amount);
    expect(amounts.filter((amount) => amount !== 0n)).toEqual(result === 0n ? [] : [-1n, -1n]);
    const last = pairs.at(-1)?.investorLogin ?? "";
    const parts = { investorLogin: last, limit: 9, before: undefined, from: undefined, to: undefined };
    expect((await world.service.listInvestorAllocations(parts, aCall())).items).toEqual([]);
    await allocate(pool, await booked(pool, 6_000_00n), dealId);
    const repair = [3_000_00n, 2_000_00n, 1_000_00n, 0n];
    expect(await shares(pool)).toEqual(before.map((amount, index) => amount + (repair[index] ?? 0n)));
    await expectNothingLeft(pool);
  },
);

test("money that is allocated now is shown against the units that share it, and own capital keeps its carry", async () => {
  const pool = await aPool(await aWorld(), 1_000_00n);
  const { world, master, masterLogin } = pool;
  const review = await booked(pool, 500_00n);
  await traded(pool, 1n);
  const position = master.open();
  master.float(position, 90_00n);
  await settle(world);
  await subscribed(world, masterLogin, 530_00n);
  const carries = sql`select own_carry_e8 as own, (select sum(carry_e8)::bigint from holding) as others from master_pool`;
  const before = await many(world.deps.pool, carries);
  expect(before).toEqual([{ own: 333_333n, others: -333_333n }]);
  await allocate(pool, review);
  expect((await shares(pool)).slice(0, 2)).toEqual([1_333_34n, 696_67n]);
  const [units] = await many(
    world.deps.pool,
    sql`select pool_units = (select sum(units) from allocation_row as part where part.number = entry.number) as "areAll"
        from allocation_entry as entry
        where case_id <> 0`,
  );
  expect(units).toEqual({ areAll: true });
  expect(await many(world.deps.pool, carries)).toEqual(before);
  await expectBooksToReconcile(world);
});

test("who has left the pool since gets the part on the account, which leaves the Master by an exit transfer", async () => {
  const pool = await aPool(await aWorld(), 600_00n, 400_00n);
  const { world, masterLogin } = pool;
  const { ledger } = world.platform;
  const [first, second] = pool.pairs as [Pair, Pair];
  const tick = await traded(pool, -100_00n);
  await world.service.unassign(first, aCall());
  await settle(world);
  expect(balanceOf(ledger, first.investorLogin)).toBe(540_00n);
  await allocate(pool, await booked(pool, 100_00n), tick);
  expect(balances(world, first.investorLogin, masterLogin)).toEqual([600_00n, 400_00n]);
  expect(await holdingOf(world, masterLogin, second.id)).toMatchObject({ pooled: 400_00n });
  expect(await withdraw(world, first.investorLogin, 600_00n, "1")).toBe(600_00n);
  await settle(world);
  expect(await findingsOf(endings(world.deps))).toEqual([]);
  await expectNothingLeft(pool);
  await traded(pool, 10_00n);
  const list = async (from?: Date, limit = 10) => {
    const request = { investorLogin: first.investorLogin, from, to: undefined, before: undefined, limit };
    return (await world.service.listInvestorAllocations(request, aCall())).items;
  };
  const [repair, loss] = await list();
  expect([repair, loss]).toMatchObject([
    { subscriptionId: first.id, number: 2n, dealId: tick, amount: { minorUnits: 60_00n } },
    { subscriptionId: first.id, number: 1n, dealId: tick, amount: { minorUnits: -60_00n } },
  ]);
  expect(await list(undefined, 1)).toEqual([repair]);
  // Also when the Investor has joined again before the period begins.
  await world.service.assign(anAssignment(first), aCall());
  await settle(world);
  expect(await list(repair?.allocatedAt)).toEqual([repair]);
});

test("who has a part of a repair on an archived account leaves, and has it when the account is back", async () => {
  const pool = await aPool(await aWorld(), 600_00n, 400_00n);
  const { world, masterLogin } = pool;
  const { ledger } = world.platform;
  const [, second] = pool.pairs as [Pair, Pair];
  const tick = await traded(pool, -100_00n);
  expect(await withdraw(world, second.investorLogin, 360_00n, "1")).toBe(360_00n);
  await settle(world);
  ledger.archived.add(second.investorLogin);
  await allocate(pool, await booked(pool, 100_00n), tick);
  const { amount } = await world.service.unassign(second, aCall());
  expect(amount?.minorUnits).toBe(-40_00n);
  await settle(world);
  expect(balanceOf(ledger, masterLogin)).toBe(600_00n);
  expect(await findingsOf(endings(world.deps))).toEqual([]);

  ledger.archived.delete(second.investorLogin);
  await passTime(world, 3_600_000);
  await settle(world);
  expect(balanceOf(ledger, second.investorLogin)).toBe(40_00n);
  await expectNothingLeft(pool);
});

test("who has left and is in a pool again has the part mirrored there", async () => {
  const pool = await aPool(await aWorld(), 600_00n, 400_00n);
  const { world } = pool;
  const [{ investorLogin, masterLogin }] = pool.pairs as [Pair];
  const tick = await traded(pool, -100_00n);
  const other = aMaster(world, 0n);
  for (const next of [other, masterLogin]) {
    const open = await world.service.findOpenSubscription({ investorLogin }, aCall());
    await world.service.unassign({ investorLogin, masterLogin: open.subscription?.masterLogin ?? "" }, aCall());
    await settle(world);
    await world.service.assign(anAssignment({ masterLogin: next, investorLogin }), aCall());
    await settle(world);
    await allocate(pool, await booked(pool, 50_00n), tick);
  }
  expect(balances(world, investorLogin, other)).toEqual([600_00n, 0n]);
  expect((await inBucket(world, masterLogin, "pooled")).toSorted()).toEqual([400_00n, 600_00n]);
  await expectNothingLeft(pool);
});

test("what those who have left would have to give back is lacking on the Master, and stays under review", async () => {
  const pool = await aPool(await aWorld(), 600_00n, 400_00n);
  const { world } = pool;
  const tick = await traded(pool, 100_00n);
  await world.service.unassign(pool.pairs[0] as Pair, aCall());
  await settle(world);
  await allocate(pool, await booked(pool, -100_00n), tick);
  expect(await shares(pool)).toEqual([400_00n, -60_00n]);
  const review = await reviewWithReason(world, "external_funds_on_master");
  expect(cents(review.amount)).toBe(-60_00n);
  await expectBooksToReconcile(world);
  await allocate(pool, review);
  expect(await shares(pool)).toEqual([340_00n, 0n]);
  await expectNothingLeft(pool);
});

test("acknowledged own capital has its part of what a dealer has moved, and of later results by what each has then", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n, 1_000_00n);
  const pairs = [await subscribed(world, masterLogin, 1_000_00n)];
  const pool = { world, masterLogin, pairs, master: trader(world, masterLogin) };
  await decide(world, await reviewWithReason(world, "external_funds_on_master"), "acknowledge");
  await allocate(pool, await booked(pool, 500_00n));
  expect(await shares(pool)).toEqual([1_250_00n, 1_250_00n]);
  // 2,000.00 have become 2,500.00.
  const values = sql`select unit_value as value from allocation_entry where case_id <> 0`;
  expect(await many(world.deps.pool, values)).toEqual([{ value: 1_250_000_000_000_000_000n }]);
  await traded(pool, 300_00n);
  expect(await shares(pool)).toEqual([1_400_00n, 1_400_00n]);
  await expectNothingLeft(pool);
});

test("a repair ends a deficit, and enters the track record when it is decided", async () => {
  const pool = await aPool(await aWorld(), 100_00n);
  const { world } = pool;
  const tick = await traded(pool, -130_00n);
  await allocate(pool, await booked(pool, 130_00n), tick);
  expect(await shares(pool)).toEqual([100_00n, 0n]);
  expect(await many(world.deps.pool, sql`select is_in_deficit from master_pool`)).toEqual([{ is_in_deficit: false }]);
  await traded(pool, 10_00n);
  await expectNothingLeft(pool);
});

test("a repair that is dated before the end of a week counts in the open week", async () => {
  const pool = await aPool(await aWorld(), 600_00n, 400_00n);
  const { world } = pool;
  const { periodMs, anchor } = world.deps.week;
  const tick = await traded(pool, -100_00n);
  await passTime(world, periodMs + anchor.getTime() - world.deps.now().getTime() + 60_000);
  await settle(world);
  await allocate(pool, await booked(pool, 100_00n), tick);
  const entries = await timelineOf(world, pool.masterLogin);
  expect(entries.map(({ kind }) => kind)).toEqual(["RESULT", "WEEK", "RESULT"]);
  const [first, , last] = entries;
  expect(last).toMatchObject({ dealId: tick, dealAt: first?.dealAt, result: 100_00n });
  await expectNothingLeft(pool);
});

test("only a result of this Master, in which an Investor had a share, can be named, and only what no operator has decided about is allocated", async () => {
  const pool = await aPool(await aWorld(), 100_00n);
  const { world } = pool;
  const masterLogin = aMaster(world, 0n);
  const lonely = trader(world, masterLogin).result(5_00n);
  await settle(world);
  const other = { ...pool, masterLogin, master: trader(world, masterLogin) };
  const tick = await traded(pool, -10_00n);
  enter(world.platform.ledger, pool.masterLogin, { kind: EXTERNAL, amount: 10_00n });
  await settle(world);
  const review = (await reviewsOf(world)).find(({ login }) => login === pool.masterLogin) as Review;
  const propose = (dealId: bigint) => vote(world.deps, review, { action: "allocate", actor: "anna", dealId });
  await expect(propose(1n)).rejects.toMatchObject({ message: expect.stringContaining("is no result of Master") });
  await expect(propose(lonely.dealId)).rejects.toMatchObject({
    message: expect.stringContaining("is no result of Master"),
  });
  const found = (await reviewsOf(world)).find(({ login }) => login === other.masterLogin);
  expect(found).toMatchObject({ amount: { minorUnits: 5_00n }, actions: ["acknowledge", "allocate"] });
  await subscribed(world, other.masterLogin, 100_00n);
  enter(world.platform.ledger, other.masterLogin, { kind: EXTERNAL, amount: 5_00n });
  await settle(world);
  const [second] = (await reviewsOf(world)).filter(({ login }) => login === other.masterLogin);
  await expect(
    vote(world.deps, { id: second?.id ?? 0n }, { action: "allocate", actor: "anna", dealId: lonely.dealId }),
  ).rejects.toMatchObject({ message: expect.stringContaining("no Investor had a share") });
  // Another movement after the proposal needs another one.
  await propose(tick);
  enter(world.platform.ledger, pool.masterLogin, { kind: EXTERNAL, amount: 1_00n });
  enter(world.platform.ledger, pool.masterLogin, { kind: EXTERNAL, amount: -1_00n });
  await settle(world);
  const confirm = vote(world.deps, review, { action: "allocate", actor: "boris", dealId: tick });
  await expect(confirm).resolves.toMatchObject({ state: 2 });
});
