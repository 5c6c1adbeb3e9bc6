import { expect, test, vi } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import type { Review } from "#proto/pamm/common/v1/review.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { Deps } from "../deps.ts";
import { reviewsOf, vote } from "./reviews.ts";
import { recover, crashAtEveryPoint, CRASH_TEST_MS, times } from "./crash-at-every-point.ts";
import { inBucket, holdingOf, balances } from "./ledger.ts";
import { enter } from "#test/support/platform-fake/ledger.ts";
import { type Pair, settle, subscribedAll } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall, aMaster, aWorld, type World } from "./world.ts";

vi.setConfig({ testTimeout: CRASH_TEST_MS });

type PairWithReview = Pair & { readonly review: Review };

type Decided = { readonly review: Review; readonly dealId?: bigint };

const voteTwice =
  (action: string) =>
  async (deps: Deps, { review, dealId }: Decided) => {
    for (const actor of ["anna", "boris"]) await vote(deps, review, { action, actor, dealId });
  };

async function preparePairs(
  world: World,
  count: number,
  entry: Parameters<typeof enter>[2],
): Promise<PairWithReview[]> {
  const wanted = times(count, () => ({ masterLogin: aMaster(world, 0n), balance: 100_00n }));
  const pairs = await subscribedAll(world, wanted);
  for (const { investorLogin } of pairs) enter(world.platform.ledger, investorLogin, entry);
  await settle(world);
  const reviews = await reviewsOf(world);
  return pairs.map((pair) => {
    const review = reviews.find(({ login }) => login === pair.investorLogin || login === pair.masterLogin);
    if (review === undefined) throw new Error(`no review of ${pair.investorLogin}`);
    return { ...pair, review };
  });
}

/** Repeats the votes that were lost in the crash. */
async function castMissingVotes(world: World, { review, dealId }: Decided, action: string): Promise<void> {
  for (const actor of ["anna", "boris", "carol"]) {
    await vote(world.deps, review, { action, actor, dealId }).catch((error: unknown) => {
      expect(error).toMatchObject({ code: expect.stringMatching(/^(second_approver_required|review_decided)$/) });
    });
  }
}

test("an adoption that crashes at any point is applied completely once or not at all", async () => {
  const world = await aWorld();
  const externalDeposit = { kind: MovementKind.EXTERNAL, amount: 40_00n };
  const pairs = await crashAtEveryPoint(world, {
    prepare: (count) => preparePairs(world, count, externalDeposit),
    run: voteTwice("adopt"),
  });
  for (const pair of pairs) {
    const holding = await holdingOf(world, pair.masterLogin, pair.id);
    expect([
      { pooled: 100_00n, quarantined: 40_00n },
      { pooled: 140_00n, quarantined: 0n },
    ]).toContainEqual({ pooled: holding?.pooled, quarantined: holding?.quarantined });
    await castMissingVotes(world, pair, "adopt");
  }
  await recover(world);
  for (const { masterLogin } of pairs) expect(await inBucket(world, masterLogin, "pooled")).toEqual([140_00n]);
  const decided = sql`select count(*)::int as confirmations, case_id from review_event where event = 'CONFIRMED' group by case_id`;
  const confirmed = await many<{ confirmations: number }>(world.deps.pool, decided);
  // Of each pair, and of the case without a crash.
  expect(confirmed.map(({ confirmations }) => confirmations)).toEqual(
    Array.from({ length: pairs.length + 1 }, () => 1),
  );
});

test("a repair of an earlier deal that crashes at any point is allocated once, and who has left is paid once", async () => {
  const world = await aWorld();
  const { ledger } = world.platform;
  const cases = await crashAtEveryPoint(world, {
    prepare: async (count) => {
      const masters = times(count, () => aMaster(world, 0n));
      const pairs = await subscribedAll(
        world,
        masters.flatMap((masterLogin) => [60_00n, 40_00n].map((balance) => ({ masterLogin, balance }))),
      );
      const deals = masters.map((masterLogin) => trader(world, masterLogin).result(-10_00n).dealId);
      await settle(world);
      for (const masterLogin of masters) {
        const left = pairs.find((pair) => pair.masterLogin === masterLogin);
        await world.service.unassign(left!, aCall());
        enter(ledger, masterLogin, { kind: MovementKind.EXTERNAL, amount: 10_00n });
      }
      await settle(world);
      const reviews = await reviewsOf(world);
      return masters.map((masterLogin, index) => {
        const [left, stays] = pairs.filter((pair) => pair.masterLogin === masterLogin);
        const review = reviews.find(({ login }) => login === masterLogin);
        if (left === undefined || stays === undefined || review === undefined) {
          throw new Error("no review was opened");
        }
        return { masterLogin, left, stays, review, dealId: deals[index] ?? 0n };
      });
    },
    run: voteTwice("allocate"),
  });
  for (const each of cases) await castMissingVotes(world, each, "allocate");
  await recover(world);
  for (const { masterLogin, left, stays } of cases) {
    const logins = [masterLogin, left.investorLogin, stays.investorLogin];
    expect(balances(world, ...logins)).toEqual([40_00n, 60_00n, 40_00n]);
    expect(await inBucket(world, masterLogin, "pooled")).toEqual([40_00n]);
  }
  expect(await reviewsOf(world)).toEqual([]);
});
