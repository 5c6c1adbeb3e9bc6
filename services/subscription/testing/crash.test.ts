import { expect, test, vi } from "vitest";
import { sized } from "#test/support/proof.ts";
import { subscriptionService } from "../service.ts";
import {
  anOperation,
  crashAtEveryPoint,
  CRASH_TEST_MS,
  endOf,
  recover,
  statusOf,
  times,
} from "./crash-at-every-point.ts";
import { complete } from "../processes/departure/complete.ts";
import { joinEpisode } from "../processes/departure/decide.ts";
import { WithdrawalState } from "#proto/pamm/subscription/v1/subscription.ts";
import { holdForWithdrawal, requestWithdrawal } from "./funding.ts";
import { inBucket } from "./ledger.ts";
import { balanceOf, getAccount } from "#test/support/platform-fake/ledger.ts";
import { deliver, runJobs, settle, subscribedAll } from "./settle.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, type World } from "./world.ts";

vi.setConfig({ testTimeout: CRASH_TEST_MS });

async function assignedPairs(world: World, count: number) {
  const pairs = times(count, () => ({ masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) }));
  for (const pair of pairs) await world.service.assign(anAssignment(pair), aCall());
  return pairs;
}

test("an assign that crashes at any point is either finished or rolled back, and never keeps the account lock", async () => {
  const world = await aWorld();
  const { ledger } = world.platform;
  const cases = await crashAtEveryPoint(world, {
    prepare: async (count) =>
      times(count, () => ({ masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) })),
    run: (deps, pair) => subscriptionService(deps).assign(anAssignment(pair), aCall()),
  });

  const outcomes = new Set<string>();
  for (const pair of cases) {
    const { masterLogin, investorLogin } = pair;
    const status = await statusOf(world, investorLogin);
    outcomes.add(status);
    expect(getAccount(ledger, investorLogin).lockOwner).toBeUndefined();
    expect(balanceOf(ledger, masterLogin)).toBe(status === "ACTIVE" ? 500_00n : 0n);
    const terms = world.configured.filter((configured) => configured.investorLogin === investorLogin);
    if (status === "ACTIVE") expect(terms).toHaveLength(1);
    // Nothing blocks the Investor: it is assigned or can be assigned.
    const again = world.service.assign(anAssignment(pair), aCall());
    if (status === "ACTIVE") await expect(again).rejects.toMatchObject({ code: "already_subscribed" });
    else await again;
  }
  expect(outcomes).toEqual(new Set(["nothing", "ABORTED", "ACTIVE"]));
  await recover(world);
  for (const pair of cases) expect(balanceOf(ledger, pair.masterLogin)).toBe(500_00n);
});

test("a withdrawal whose payout is refused and that crashes at any point returns its reserve to the pool once", async () => {
  const world = await aWorld();
  world.platform.rules.refuse = ({ key }) => (key.startsWith("withdrawal:") ? "insufficient_funds" : undefined);
  const cases = await crashAtEveryPoint(world, {
    prepare: async (count) =>
      (
        await subscribedAll(
          world,
          times(count, () => ({ masterLogin: aMaster(world), balance: 500_00n })),
        )
      ).map((pair) => ({ ...pair, operation: anOperation() })),
    run: (deps, { investorLogin, operation }) =>
      requestWithdrawal({ service: subscriptionService(deps), deps }, investorLogin, 200_00n, operation),
  });

  for (const { masterLogin, investorLogin, operation } of cases) {
    const { state } = await requestWithdrawal(world, investorLogin, 200_00n, operation);
    expect(state).toBe(WithdrawalState.REFUSED);
    expect(getAccount(world.platform.ledger, investorLogin).lockOwner).toBeUndefined();
    await settle(world);
    expect(await inBucket(world, masterLogin, "pooled")).toEqual([500_00n]);
    expect(await inBucket(world, masterLogin, "reserved")).toEqual([0n]);
  }
  await recover(world);
  for (const { masterLogin } of cases) expect(balanceOf(world.platform.ledger, masterLogin)).toBe(500_00n);
});

test("an episode of several withdrawals that crashes at any point decides all of them once, or none", async () => {
  const world = await aWorld();
  const { ledger } = world.platform;
  const amounts = [200_00n, 50_00n, 500_00n];
  const cases = await crashAtEveryPoint(world, {
    prepare: async (count) => {
      const masters = times(count, () => aMaster(world));
      const wanted = masters.flatMap((masterLogin) => amounts.map(() => ({ masterLogin, balance: 500_00n })));
      const pairs = await subscribedAll(world, wanted);
      const made = [];
      for (const masterLogin of masters) {
        const leaving = [];
        for (const [index, pair] of pairs.filter((each) => each.masterLogin === masterLogin).entries()) {
          const amount = amounts[index] ?? 0n;
          leaving.push({ ...pair, amount, departure: await holdForWithdrawal(world, pair.investorLogin, amount) });
        }
        made.push({ masterLogin, leaving });
      }
      return made;
    },
    run: async (deps, { masterLogin, leaving }) => {
      // All join in one turn, so that each run has the same points.
      const decided = await Promise.all(
        leaving.map(({ id: subscriptionId, departure }) => {
          return joinEpisode(deps, { ...departure, subscriptionId, masterLogin }, Infinity);
        }),
      );
      for (const end of decided) if (end.kind === "decided") await complete(deps, end.departure, aCall());
    },
  });

  const all = new Set<string>();
  for (const { masterLogin, leaving } of cases) {
    const ends = await Promise.all(leaving.map(({ departure }) => endOf(world, departure.operationId)));
    const isDecided = ends[0] !== "REFUSED";
    expect(ends).toEqual(amounts.map((amount) => (isDecided ? `ENDED ${amount}` : "REFUSED")));
    expect(balanceOf(ledger, masterLogin)).toBe(isDecided ? 750_00n : 1_500_00n);
    for (const { investorLogin } of leaving) expect(getAccount(ledger, investorLogin).lockOwner).toBeUndefined();
    all.add(isDecided ? "decided" : "refused");
  }
  expect(all).toEqual(new Set(["decided", "refused"]));
});

test("jobs and filing that crash at any point are finished later, and nothing is mirrored twice", async () => {
  const world = await aWorld();
  const { ledger } = world.platform;
  const cases = await crashAtEveryPoint(world, {
    prepare: (count) => assignedPairs(world, count),
    run: async (deps) => {
      const crashingWorld = { ...world, deps, state: { ...world.state } };
      for (let runs = 0; runs < 3; runs += 1) {
        await deliver(crashingWorld);
        await runJobs(deps);
      }
    },
    stride: sized({ test: 10, proof: 1 }),
  });

  for (const pair of cases) {
    expect(balanceOf(ledger, pair.masterLogin)).toBe(500_00n);
    await world.service.unassign(pair, aCall());
  }
  await recover(world);
  for (const pair of cases) {
    expect(await statusOf(world, pair.investorLogin)).toBe("CANCELLED");
    expect(balanceOf(ledger, pair.masterLogin)).toBe(0n);
  }
});
