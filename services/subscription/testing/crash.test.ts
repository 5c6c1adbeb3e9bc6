import { expect, test } from "vitest";
import { subscriptionService } from "../service.ts";
import { recover, crashAtEveryPoint, CRASH_TEST_MS, statusOf, times } from "./crash-at-every-point.ts";
import { holdForWithdrawal, payOut, release } from "./funding.ts";
import { balanceOf, getAccount } from "#test/support/platform-fake/ledger.ts";
import { deliver, runJobs, settle } from "./settle.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, type World } from "./world.ts";

async function assignedPairs(world: World, count: number) {
  const pairs = times(count, () => ({ masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) }));
  for (const pair of pairs) await world.service.assign(anAssignment(pair), aCall());
  return pairs;
}

async function subscribedPairs(world: World, count: number) {
  const pairs = await assignedPairs(world, count);
  await settle(world);
  return pairs;
}

test(
  "an assign that crashes at any point is either finished or rolled back, and never keeps the account lock",
  async () => {
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
  },
  CRASH_TEST_MS,
);

test(
  "an unassign that crashes at any point is either finished or leaves the Investor in the pool",
  async () => {
    const world = await aWorld();
    const { ledger } = world.platform;
    const cases = await crashAtEveryPoint(world, {
      prepare: (count) => subscribedPairs(world, count),
      run: (deps, pair) => subscriptionService(deps).unassign(pair, aCall()),
    });

    const outcomes = new Set<string>();
    for (const pair of cases) {
      const { masterLogin, investorLogin } = pair;
      const status = await statusOf(world, investorLogin);
      outcomes.add(status);
      expect(getAccount(ledger, investorLogin).lockOwner).toBeUndefined();
      expect(balanceOf(ledger, masterLogin)).toBe(status === "ACTIVE" ? 500_00n : 0n);
      expect(balanceOf(ledger, investorLogin)).toBe(500_00n);
      const again = world.service.unassign(pair, aCall());
      if (status === "ACTIVE") await again;
      else await expect(again).rejects.toMatchObject({ code: "subscription_not_active" });
    }
    expect(outcomes).toEqual(new Set(["ACTIVE", "CANCELLED"]));
    await recover(world);
    for (const pair of cases) expect(balanceOf(ledger, pair.masterLogin)).toBe(0n);
  },
  CRASH_TEST_MS,
);

test(
  "a leave that crashes at any point is decided once, and a repeated call gets that decision or a final refusal",
  async () => {
    const world = await aWorld();
    const { ledger } = world.platform;
    const cases = await crashAtEveryPoint(world, {
      prepare: async (count) => {
        const pairs = await subscribedPairs(world, count);
        return await Promise.all(
          pairs.map(async (pair) => {
            return { ...pair, withdrawal: await holdForWithdrawal(world, pair.investorLogin, 200_00n) };
          }),
        );
      },
      run: (deps, { withdrawal }) => subscriptionService(deps).leave(withdrawal.request, aCall()),
    });

    const outcomes = new Set<string>();
    const paid = new Map<string, bigint>();
    for (const pair of cases) {
      const repeatCall = () => world.service.leave(pair.withdrawal.request, aCall()).catch((error: unknown) => error);
      const answer = await repeatCall();
      expect(await repeatCall()).toEqual(answer);
      const isDecided = !(answer instanceof Error);
      outcomes.add(isDecided ? "decided" : "refused");
      if (isDecided) await payOut(world, pair.withdrawal, 200_00n);
      else expect(answer).toMatchObject({ code: "allocation_in_progress" });
      paid.set(pair.masterLogin, isDecided ? 200_00n : 0n);
      await release(world, pair.withdrawal);
    }
    expect(outcomes).toEqual(new Set(["decided", "refused"]));
    await recover(world);
    for (const pair of cases) {
      expect(balanceOf(ledger, pair.masterLogin)).toBe(500_00n - (paid.get(pair.masterLogin) ?? 0n));
      // The gate is open: the next leave is decided.
      await world.service.unassign(pair, aCall());
    }
    await recover(world);
    for (const pair of cases) expect(balanceOf(ledger, pair.masterLogin)).toBe(0n);
  },
  CRASH_TEST_MS,
);

test(
  "jobs and filing that crash at any point are finished later, and nothing is mirrored twice",
  async () => {
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
  },
  CRASH_TEST_MS,
);
