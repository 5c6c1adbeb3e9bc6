import { expect, test } from "vitest";
import { subscriptionService } from "../service.ts";
import { recover, crashAtEveryPoint, CRASH_TEST_MS, statusOf, times } from "./crash-at-every-point.ts";
import { joinEpisode } from "../processes/departure/episode.ts";
import { readDatabase } from "#kernel/postgres/database-identity.ts";
import { askedLeaveOf, holdForWithdrawal, payOut, release } from "./funding.ts";
import { balanceOf, getAccount } from "#test/support/platform-fake/ledger.ts";
import { deliver, runJobs, settle, subscribed } from "./settle.ts";
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
  "a leave that crashes at any point is decided once, and a repeated call gets that decision",
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

    for (const pair of cases) {
      const repeatCall = () => world.service.leave(pair.withdrawal.request, aCall());
      const answer = await repeatCall();
      expect(answer).toMatchObject({ effective: { minorUnits: 200_00n } });
      expect(await repeatCall()).toEqual(answer);
      await payOut(world, pair.withdrawal, 200_00n);
      await release(world, pair.withdrawal);
    }
    await recover(world);
    for (const pair of cases) {
      expect(balanceOf(ledger, pair.masterLogin)).toBe(300_00n);
      await world.service.unassign(pair, aCall());
    }
    await recover(world);
    for (const pair of cases) expect(balanceOf(ledger, pair.masterLogin)).toBe(0n);
  },
  CRASH_TEST_MS,
);

test(
  "an episode of several leaves that crashes at any point decides each of them once",
  async () => {
    const world = await aWorld();
    const { ledger } = world.platform;
    const amounts = [200_00n, 50_00n, 500_00n];
    const cases = await crashAtEveryPoint(world, {
      prepare: async (count) => {
        const made = [];
        for (const masterLogin of times(count, () => aMaster(world))) {
          const leaves = [];
          for (const amount of amounts) {
            const pair = await subscribed(world, masterLogin, 500_00n);
            leaves.push({ ...pair, amount, withdrawal: await holdForWithdrawal(world, pair.investorLogin, amount) });
          }
          made.push({ masterLogin, leaves });
        }
        return made;
      },
      run: async (deps, { masterLogin, leaves }) => {
        const database = await readDatabase(world.deps.pool);
        // All join in one turn, so that each run has the same points.
        return await Promise.all(
          leaves.map(({ id: subscriptionId, withdrawal }) => {
            const holding = { subscriptionId, masterLogin };
            return joinEpisode(deps, { leave: askedLeaveOf(withdrawal), holding, database }, Infinity);
          }),
        );
      },
    });

    for (const { leaves } of cases) {
      for (const { withdrawal, amount } of leaves) {
        const answer = await world.service.leave(withdrawal.request, aCall());
        expect(answer).toMatchObject({ effective: { minorUnits: amount } });
        await payOut(world, withdrawal, amount);
        await release(world, withdrawal);
      }
    }
    await recover(world);
    for (const { masterLogin } of cases) expect(balanceOf(ledger, masterLogin)).toBe(750_00n);
  },
  2 * CRASH_TEST_MS,
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
