import fc from "fast-check";
import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { sized } from "#test/support/proof.ts";
import { isDivided } from "../domain/fold.ts";
import { earn, type Layer, NOTHING_EARNED } from "../domain/layers.ts";
import { STEPS, type StepSizes } from "../domain/step-sizes.ts";
import { changesOf, rateAt } from "../domain/version.ts";
import { listTerms } from "../store/configurations.ts";
import { foldResults } from "../store/folded-pairs.ts";
import { listPartsToFold } from "../store/journal.ts";
import { type Pair, readPairs } from "../store/pairs.ts";
import { MASTER } from "./fee.ts";
import { decideLeave } from "./leaving.ts";
import { aPoolInSteps } from "./steps.ts";
import { endWeek, expectToReconcile, paymentsOf, result, runsOf, setRate, settle, type World } from "./world.ts";

const LOGINS = ["9001", "9002", "9003", "9004"];
const RUNS = sized({ test: 12, proof: 300 });
const TIMEOUT_MS = sized({ test: 120_000, proof: 30 * 60_000 });

type Step =
  | { readonly kind: "result"; readonly cents: readonly number[] }
  | { readonly kind: "week"; readonly floating: readonly number[] }
  | { readonly kind: "rate"; readonly login: number; readonly ratePpm: number; readonly back: number }
  | { readonly kind: "leave"; readonly login: number };

const each = fc.array(fc.integer({ min: -300, max: 500 }), { minLength: LOGINS.length, maxLength: LOGINS.length });
const login = fc.nat({ max: LOGINS.length - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: each.map((cents) => ({ kind: "result" as const, cents })) },
  { weight: 2, arbitrary: each.map((floating) => ({ kind: "week" as const, floating })) },
  {
    weight: 2,
    arbitrary: fc
      .record({ login, ratePpm: fc.constantFrom(0, 100_000, 333_333), back: fc.nat({ max: 400 }) })
      .map((rate) => ({ kind: "rate" as const, ...rate })),
  },
  { weight: 1, arbitrary: login.map((index) => ({ kind: "leave" as const, login: index })) },
);
const sizes = fc.record({ holdings: fc.integer({ min: 1, max: 3 }), results: fc.integer({ min: 1, max: 3 }) });

function parts(cents: readonly number[]): Record<string, string> {
  return Object.fromEntries(LOGINS.map((name, index) => [name, ((cents[index] ?? 0) / 100).toFixed(2)]));
}

async function perform(world: World, action: Step, index: number): Promise<void> {
  switch (action.kind) {
    case "result":
      result(world, parts(action.cents));
      return;
    case "week":
      endWeek(world, parts(action.floating));
      await settle(world);
      return;
    case "leave":
      await decideLeave(world, {
        key: `leave:${index}`,
        investorLogin: LOGINS[action.login] ?? "",
        suffix: `WD${index}`,
      });
      return;
    case "rate": {
      const effectiveSince = new Date(world.clock.now.getTime() - action.back * 3_600_000);
      await setRate(world, {
        key: `rate:${index}`,
        login: LOGINS[action.login] ?? "",
        ratePpm: action.ratePpm,
        effectiveSince,
      });
      await expectWhole(world, LOGINS[action.login] ?? "");
    }
  }
}

/** What is folded again from the mark on has the fee of all results since the first one. */
async function expectWhole({ deps: { pool, steps }, clock }: World, investorLogin: string): Promise<void> {
  const [stored] = await readPairs(pool, investorLogin, [MASTER]);
  if (stored === undefined) return;
  const { foldedNumber: throughNumber } = stored;
  let pair: Pair = stored;
  do {
    const toFold = { investorLogin, at: clock.now, toFold: { pair, throughNumber } };
    pair = (await foldResults(pool, [toFold], steps.results)).pairs[0]!;
  } while (pair.foldedNumber !== throughNumber);
  const wanted = { investorLogin, masterLogin: MASTER, foldedNumber: 0n, throughNumber };
  const [next] = await listPartsToFold(pool, [wanted], 1_000_000);
  const versions = (await listTerms(pool, [{ investorLogin, since: new Date(0) }])).get(investorLogin)?.versions ?? [];
  const { earned, mark, layers } = pair.earnings;
  const whole = earn({ ...NOTHING_EARNED, mark }, next?.parts ?? [], changesOf(versions));
  const feeOf = (stack: readonly Layer[]) =>
    stack.reduce((sum, { amount, earnedFrom }) => sum + amount * BigInt(rateAt(versions, earnedFrom)), 0n);
  expect([earned, feeOf(layers)]).toEqual([whole.earned, feeOf(whole.layers)]);
  expect(isDivided(pair, versions)).toBe(false);
}

/** Everything that is decided by a history, with transactions of these sizes. */
async function outcomeOf(history: readonly Step[], steps: StepSizes, pool?: Pool) {
  const investors = LOGINS.map((name, index) => ({ login: name, ratePpm: index * 100_000 }));
  const world = await aPoolInSteps(steps, investors, pool);
  for (const [index, action] of history.entries()) await perform(world, action, index);
  endWeek(world, parts([]));
  await settle(world);
  await expectToReconcile(world);
  const pairs = sql`select investor_login, folded_number, earned_minor, mark_e8, debt_minor from fee_pair order by 1`;
  const layers = sql`select investor_login, number, amount_e8, earned_from, earned_to from fee_layer order by 1, 2`;
  const found = {
    payments: (await paymentsOf(world)).toSorted(byName),
    runs: await runsOf(world),
    pairs: await many(world.deps.pool, pairs),
    layers: await many(world.deps.pool, layers),
  };
  return { found, pool: world.deps.pool };
}

function byName(left: object, right: object): number {
  return JSON.stringify(left) < JSON.stringify(right) ? -1 : 1;
}

test(
  "random histories in steps of one to three Investors and results have the fees, marks and layers of one transaction",
  async () => {
    let pool: Pool | undefined;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 25 }), sizes, async (history, small) => {
        const whole = await outcomeOf(history, STEPS, pool);
        pool = whole.pool;
        expect((await outcomeOf(history, small, pool)).found).toEqual(whole.found);
      }),
      { numRuns: RUNS, seed: 56, endOnFailure: true },
    );
  },
  TIMEOUT_MS,
);
