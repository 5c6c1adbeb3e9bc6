import { expect, test, vi } from "vitest";
import { EquityReply } from "../../services/edge/api/history/equity.ts";
import { PerformanceReply } from "../../services/edge/api/history/performance.ts";
import { versionOfChange } from "../../services/fee/domain/change-timeline.ts";
import { later, scheduledAfter } from "../../services/fee/domain/timeline.ts";
import { linesAfter } from "../../services/platform/domain/statement.ts";
import { decideDeparture } from "../../services/subscription/domain/decide-departure.ts";
import { departureReasons } from "../../services/subscription/domain/departure-reasons.ts";
import { divideRepair } from "../../services/subscription/domain/divide-repair.ts";
import { decideDue } from "../../services/subscription/domain/fees/due.ts";
import { continueFold, type Fold } from "../../services/subscription/domain/fees/fold.ts";
import { chainValuations, joinDays } from "../../services/subscription/domain/performance.ts";
import { allocateDeal } from "../../services/subscription/domain/pool/allocate-deal.ts";
import { floatingShares } from "../../services/subscription/domain/pool/floating-shares.ts";
import { giveResult } from "../../services/subscription/domain/pool/give-result.ts";
import { compensate } from "../../services/subscription/domain/pool/raise-negative.ts";
import { strikePool } from "../../services/subscription/domain/pool/strike-pool.ts";
import { takeOut } from "../../services/subscription/domain/pool/take-out.ts";
import { proveMaster } from "../../services/subscription/domain/proof.ts";
import { valuationsOf, valuationsOfMarks } from "../../services/subscription/processes/allocate/valuations.ts";
import { compareWithReference, type Comparison, FEE_VERSIONS, STOP_OUTS } from "./compare.ts";
import { decidePending } from "./model-fees.ts";

const RUNS = 1000;
// A rare history is found after half a minute.
vi.setConfig({ testTimeout: 180_000 });

type Mutant = Omit<Comparison, "seed" | "runs"> & { readonly seed?: number };

/** For each function that is compared with the reference, a defect that the comparison has to notice. */
const MUTANTS: Readonly<Record<string, Mutant>> = {
  "carries are lost": {
    pool: {
      allocateDeal: (pool, deal) => {
        const { pool: after, ...rest } = allocateDeal(pool, deal);
        const holdings = after.holdings.map((holding) => ({ ...holding, carry: 0n }));
        return { ...rest, pool: { ...after, holdings, own: { ...after.own, carry: 0n } } };
      },
    },
  },
  "a new Investor has a share in earlier floating results": {
    pool: {
      strikePool: (pool, marks) =>
        strikePool(
          pool,
          marks.map((mark) => ({ ...mark, floating: 0n })),
        ),
    },
  },
  "a withdrawal keeps its units": {
    pool: {
      takeOut: (pool, holding, amount) => {
        const after = takeOut(pool, holding, amount);
        return { ...after, holdings: after.holdings.map((each) => ({ ...each, unredeemed: 0n })) };
      },
    },
  },
  "own capital that compensates keeps what it gives": {
    pool: {
      compensate: (pool) => {
        const after = compensate(pool);
        return { ...after, pool: { ...after.pool, own: pool.own } };
      },
    },
  },
  "floating results are split by units alone": {
    pool: { floatingShares: (pool, floating) => floatingShares({ ...pool, accruals: [] }, floating) },
  },
  "what the broker pays for a stop-out is a result": {
    shape: STOP_OUTS,
    pool: { raiseNegative: (pool) => ({ pool, raised: [], own: 0n, total: 0n }) },
  },
  "own capital has a part of what it gives": {
    pool: {
      giveResult: (pool, amount) => {
        const done = giveResult({ ...pool, own: { ...pool.own, pooled: pool.own.pooled + amount } }, amount);
        const own = done && { ...done.pool.own, pooled: done.pool.own.pooled - amount };
        return done && own && { ...done, pool: { ...done.pool, own } };
      },
    },
  },
  "a repair is split by equal units": {
    pool: {
      divideRepair: (stored, amount) =>
        divideRepair({ ...stored, result: 0n, rows: stored.rows.map((row) => ({ ...row, units: 1n })) }, amount),
    },
  },
  "the highest value is that of the last day": {
    seed: 5,
    pool: { chainValuations: (last, ...rest) => chainValuations(last && { ...last, peak: last.value }, ...rest) },
  },
  "days of the server are those of UTC": {
    seed: 5,
    pool: { joinDays: (parts) => joinDays(parts, ({ day }) => day) },
  },
  "the largest fall is that within a day": {
    seed: 5,
    pool: { maxDrawdown: (_, days) => days.reduce((most, { fallPpm }) => Math.max(most, fallPpm), 0) },
  },
  "a result changes the value by its part of the capital that was paid in": {
    seed: 5,
    pool: {
      valuationsOf: (events) =>
        valuationsOf(events).map((each) => ({ ...each, before: each.before + each.units / 9n })),
    },
  },
  "the marks of a strike change nothing": {
    seed: 5,
    pool: {
      valuationsOfMarks: (...args) => valuationsOfMarks(...args).map((each) => ({ ...each, after: each.before })),
    },
  },
  "the fees of a day are not in its point": {
    seed: 5,
    pool: { performanceReply: (facts) => PerformanceReply.of({ ...facts, credited: [] }) },
  },
  "a price is a mark however old it is": { masters: { isRecent: () => true } },
  "the last price of a closed session is a mark": { masters: { isOfOpenSession: () => true } },
  "only the first reason blocks a withdrawal": {
    seed: 5,
    equity: { departureReasons: (known) => departureReasons(known).slice(0, 1) },
  },
  "lines have the balance before them": {
    seed: 5,
    equity: {
      linesAfter: (opening, entries, movedBy) => {
        const { lines, closing } = linesAfter(opening, entries, movedBy);
        const before = (index: number) => lines[index - 1]?.balance ?? opening.balance;
        return { lines: lines.map((line, index) => ({ ...line, balance: before(index) })), closing };
      },
    },
  },
  "a fee that is due is free to withdraw": {
    seed: 5,
    equity: { decideDeparture: (facts, key) => decideDeparture({ ...facts, due: [] }, key) },
  },
  "the equity has no floating result": {
    seed: 5,
    equity: {
      equityReply: (facts) => {
        const shown = EquityReply.of(facts);
        return { ...shown, equity: shown.balance };
      },
    },
  },
  "a loss removes the earliest profit first": {
    fees: { continueFold: (fold, next, terms) => reversed(continueFold(reversed(fold), next, terms)) },
  },
  "an open loss is ignored": { fees: { decideDue: (facts) => decideDue({ ...facts, floating: 0n }) } },
  "the pending fee has no debts": {
    fees: { decidePending: (facts) => decidePending({ ...facts, debts: [] }) },
  },
  "a rate is never valid from a past date": {
    fees: {
      versionOfChange: (versions, { effectiveSince = new Date(0), ...change }, at) =>
        versionOfChange(versions, { ...change, effectiveSince: later(effectiveSince, at) }, at),
    },
  },
  "a change drops what is scheduled": {
    seed: 5,
    shape: FEE_VERSIONS,
    fees: {
      versionOfChange: (versions, change, at) => {
        const { version, replaces } = versionOfChange(versions, change, at);
        return { version, replaces: [...replaces, scheduledAfter(versions, at)?.id ?? 0n] };
      },
    },
  },
  "an acknowledgement covers later movements": {
    seed: 5,
    masters: {
      proveMaster: (login, money, holdings, shown) =>
        proveMaster(login, { ...money, acknowledged: money.acknowledged && money.external }, holdings, shown),
    },
  },
};

test.for(Object.entries(MUTANTS))("the mutant is detected: %s", ([, mutant]) => {
  expect(compareWithReference({ seed: 6, runs: RUNS, shrink: false, ...mutant }).counterexample).toMatch(
    /by the reference|wrong holdings|Carries sum|is blocked by|is shown as|, not |=> no version is scheduled/,
  );
});

function reversed<F extends Fold>(fold: F): F {
  return { ...fold, earnings: { ...fold.earnings, layers: fold.earnings.layers.toReversed() } };
}
