import type { AllocatedResult } from "../../services/subscription/domain/divide-repair.ts";
import { type Allocation, allocateDeal } from "../../services/subscription/domain/pool/allocate-deal.ts";
import { checkPool } from "../../services/subscription/domain/pool/check-pool.ts";
import { equityOf as equityE8, netAssetValue, floatingShares } from "../../services/subscription/domain/pool/equity.ts";
import { accruedIn } from "../../services/subscription/domain/pool/accruals.ts";
import { allHoldings, totalUnits } from "../../services/subscription/domain/pool/units.ts";
import { valueHolding } from "../../services/subscription/domain/holding-value.ts";
import {
  type Mark,
  markPositions,
  strikePool,
  valuePositions,
} from "../../services/subscription/domain/pool/strike-pool.ts";
import { leaveUnits, takeOut } from "../../services/subscription/domain/pool/take-out.ts";
import { EMPTY_POOL, type UnitPool } from "../../services/subscription/domain/pool/unit-pool.ts";
import { valuationsOf, valuationsOfMarks } from "../../services/subscription/domain/performance.ts";
import { isResult, type Split } from "./engine/allocate.ts";
import { dollars, type Payment, toCents } from "./engine/cents.ts";
import type { Instant } from "./engine/configuration.ts";
import { compare, type Fraction, fraction, minus, ONE, over, plus, show, times } from "./engine/fraction.ts";
import { modelPerformance, type PerformanceTally } from "./model-performance.ts";
import { arriveIn, idOf, modelRepairs, NO_HOLDING, paidBy, type RepairTally } from "./model-repairs.ts";
import { TOLERANCE_PER_EVENT, E8_PER_CENT, expectNear, grow, sizeOf, valueOf } from "./tolerance.ts";
import { emptyPool, equityOf, floatingOf, holdingsOf, type Owner, type Pool } from "./engine/pool.ts";
import { type Floating, type PoolEngine, referencePool } from "./engine/pool-engine.ts";
import { compensate } from "../../services/subscription/domain/pool/raise-negative.ts";

/** Allocations, and those in which the code under test gave a cent among equal remainders to another holding; both are correct. */
export type Tally = { allocations: number; ties: number } & RepairTally & PerformanceTally;

export function newTally(): Tally {
  return { allocations: 0, ties: 0, compensated: 0, repaired: 0, days: 0, tooSmall: 0 };
}

/** Sends the same events to the reference and to the code under test. Throws when they differ by more than rounding to 1e-8 explains. */
export function modelPool(tally: Tally, now: () => Instant = () => 0): PoolEngine {
  const pool = emptyPool();
  let paid: ReadonlyMap<Owner, bigint> = new Map();
  const choose = (split: Split): Payment<Owner>[] => {
    const payments = split.map(({ owner }) => ({ owner, cents: paid.get(owner) ?? 0n }));
    tally.allocations += 1;
    if (isSame(payments, toCents(split))) return payments;
    expectFair(split, payments, tolerance);
    tally.ties += 1;
    return payments;
  };
  const reference = referencePool(pool, now, choose as typeof toCents);
  const performance = modelPerformance(tally, now);
  let real = EMPTY_POOL;
  const allocated: AllocatedResult[] = [];
  let tolerance = TOLERANCE_PER_EVENT;

  const both = (exact: () => void, change: () => UnitPool, moved = 0n): void => {
    tolerance = grow(tolerance, pool, moved);
    exact();
    real = change();
    checkPool(real);
    expectSame(pool, real, tolerance);
    const slack = times(tolerance, fraction(BigInt(pool.holdings.size) + 2n));
    performance.expectSame(reference.performance(NO_FEES), slack);
  };
  const side = { reference, tally, allocated, performance, both, pool: () => real };
  const setPaid = (parts: ReadonlyMap<Owner, bigint>): void => void (paid = parts);
  return {
    ...reference,
    ...modelRepairs({ ...side, setPaid }),
    arrive: (owner, cents) =>
      both(
        () => reference.arrive(owner, cents),
        () => arriveIn(real, idOf(owner), cents),
      ),
    depart: (owner, cents) =>
      both(
        () => reference.depart(owner, cents),
        () => takeOut(real, idOf(owner), cents),
      ),
    compensate: () =>
      both(
        () => reference.compensate(),
        () => compensate(strikePool(real, [])).pool,
      ),
    leave: (holding) =>
      both(
        () => reference.leave(holding),
        () => leaveUnits(real, holding),
      ),
    strike: (floating) =>
      both(
        () => reference.strike(floating),
        () => {
          const marks = marksOf(real, floating);
          performance.add(valuationsOfMarks(real, marks, performance.at()));
          return strikePool(real, marks);
        },
        sizeOf(floating),
      ),
    observe: (floating) =>
      both(
        () => reference.observe(floating),
        () => {
          const marks = marksOf(real, floating);
          performance.add(valuationsOfMarks(real, marks, performance.at()));
          return valuePositions(real, marks);
        },
        sizeOf(floating),
      ),
    allocate(deal) {
      const { pool: after, parts, own } = allocateDeal(real, deal);
      paid = paidBy(parts, own);
      if (deal.result !== 0n) allocated.push(allocatedBy(real, deal.result, { parts, own }));
      let payments: readonly Payment<Owner>[] = [];
      both(
        () => (payments = reference.allocate(deal)),
        () => {
          if (isResult(deal)) {
            const { at: dealAt, dealId } = performance.at();
            const valued = { dealAt, dealId, amount: deal.result };
            performance.add(valuationsOf([{ kind: "result", deal: valued, before: real, pool: after }]));
          }
          return after;
        },
        deal.result,
      );
      expectPaid(payments, paid);
      return payments;
    },
    performance(fees) {
      const exact = reference.performance(fees);
      performance.expectShown(exact, fees);
      return exact;
    },
    floating(holding, floating) {
      const exact = floatingOf(pool, holding, floating);
      const shown = fraction(floatingShares(real, floating).get(holding) ?? 0n, E8_PER_CENT);
      const near = grow(tolerance, pool, sizeOf(floating));
      expectNear(`floating of ${holding}`, shown, exact, near);
      expectNear(
        "value of the pool",
        fraction(valuedOf(real, holding, floating), E8_PER_CENT),
        reference.value(floating),
        times(near, fraction(BigInt(pool.holdings.size) + 2n)),
      );
      return shown;
    },
  };
}

/** As it is stored: with a row for each Investor who had units or a part. */
function allocatedBy(
  pool: UnitPool,
  result: bigint,
  { parts, own }: Pick<Allocation, "parts" | "own">,
): AllocatedResult {
  const rows = pool.holdings.flatMap(({ subscriptionId, units }) => {
    const amount = parts.find((part) => part.subscriptionId === subscriptionId)?.amount ?? 0n;
    return amount === 0n && units === 0n ? [] : [{ subscriptionId, amount, units }];
  });
  return { result, own, ownUnits: pool.own.units, rows };
}

/** Each payment is within a cent of the exact part, and no cent went to a holding while another was entitled to more of it. */
function expectFair(split: Split, payments: readonly Payment<Owner>[], tolerance: Fraction): void {
  const over = split.map(({ exact }, index) => minus(fraction(payments[index]!.cents), exact));
  const sorted = over.toSorted(compare);
  const spread = minus(sorted.at(-1)!, sorted[0]!);
  if (compare(spread, plus(ONE, tolerance)) <= 0) return;
  const lines = split.map(({ owner, exact }, index) => {
    return `${owner}: ${dollars(payments[index]!.cents)} for ${show(exact)} cents`;
  });
  throw new Error(`cents went to the wrong holdings: ${lines.join("; ")}`);
}

function isSame(left: readonly Payment<Owner>[], right: readonly Payment<Owner>[]): boolean {
  return left.every(({ cents }, index) => cents === right[index]!.cents);
}

function expectPaid(payments: readonly Payment<Owner>[], paid: ReadonlyMap<Owner, bigint>): void {
  const known = new Set(payments.map(({ owner }) => owner));
  for (const [owner, cents] of paid) {
    if (cents !== 0n && !known.has(owner)) throw new Error(`${owner} got ${dollars(cents)} and has no holding`);
  }
}

/** Cents are equal; shares, carries and equities are within the tolerance. */
function expectSame(pool: Pool, real: UnitPool, tolerance: Fraction): void {
  const all = [...real.holdings, real.own];
  const units = all.reduce((sum, holding) => sum + holding.units, 0n);
  for (const [owner, holding] of holdingsOf(pool)) {
    const id = idOf(owner);
    const model = all.find(({ subscriptionId }) => subscriptionId === id) ?? { ...NO_HOLDING };
    const cash = (side: typeof model | typeof holding) =>
      [side.pooled, side.waiting, side.unredeemed].map(dollars).join(" ");
    if (cash(model) !== cash(holding)) {
      throw new Error(`${owner} has ${cash(model)}, and ${cash(holding)} by the reference`);
    }
    expectNear(`carry of ${owner}`, fraction(model.carry, E8_PER_CENT), holding.carry, tolerance);
    expectNear(`equity of ${owner}`, fraction(equityE8(real, id), E8_PER_CENT), equityOf(pool, owner), tolerance);
    if (units > 0n) {
      expectNear(`share of ${owner}`, fraction(model.units, units), holding.share, over(tolerance, valueOf(pool)));
    } else if (holding.share.numerator !== 0n) throw new Error(`${owner} has a share and no units`);
  }
  const unknown = real.holdings.filter(({ subscriptionId }) => !pool.holdings.has(subscriptionId));
  if (unknown.length > 0) throw new Error(`holding ${unknown[0]!.subscriptionId} is not known to the reference`);
  const volumes = real.positions
    .map(({ positionId, volume }) => `${positionId}: ${volume}`)
    .toSorted()
    .join(", ");
  const exact = [...pool.positions]
    .map(([id, { volume }]) => `${id}: ${volume}`)
    .toSorted()
    .join(", ");
  if (volumes !== exact) throw new Error(`open are ${volumes}, and ${exact} by the reference`);
}

/** A holding is valued from the sums of its pool as among all holdings. Returns the value of the pool. */
function valuedOf(real: UnitPool, subscriptionId: bigint, results: Floating): bigint {
  const all = allHoldings(real);
  const holding = all.find((each) => each.subscriptionId === subscriptionId);
  if (holding === undefined) throw new Error(`there is no holding ${subscriptionId}`);
  const withUnits = all.filter(({ units }) => units > 0n);
  const idle = new Set(all.filter(({ units }) => units === 0n).map((each) => each.subscriptionId));
  const sums = {
    units: totalUnits(all),
    cash: withUnits.reduce((sum, { pooled, unredeemed }) => sum + pooled + unredeemed, 0n),
    carry: withUnits.reduce((sum, { carry }) => sum + carry, 0n),
    basisWithoutUnits: real.accruals.reduce((sum, row) => sum + (idle.has(row.subscriptionId) ? row.basis : 0n), 0n),
  };
  const accruals = real.accruals.filter((row) => row.subscriptionId === subscriptionId);
  const { floating, poolValue } = valueHolding({ holding, positions: real.positions, accruals, sums }, results);
  const marked = markPositions(real, marksOf(real, results));
  const expected = [
    floatingShares(real, results).get(subscriptionId),
    sums.units === 0n ? 0n : netAssetValue(allHoldings(marked), accruedIn(marked)),
  ];
  // The attributed results add up to the marks to less than 1e-8 for each holding.
  const isSame = floating === expected[0] && distanceOf(poolValue, expected[1] ?? 0n) <= BigInt(all.length);
  if (!isSame) throw new Error(`${subscriptionId} is valued ${floating} of ${poolValue}, not ${expected.join(" of ")}`);
  return poolValue;
}

function distanceOf(left: bigint, right: bigint): bigint {
  return left > right ? left - right : right - left;
}

const NO_FEES: ReadonlyMap<string, bigint> = new Map();

function marksOf({ positions }: UnitPool, floating: Floating): Mark[] {
  return positions.map(({ positionId, volume }) => {
    return { positionId, volume, floating: floating.get(positionId) ?? 0n };
  });
}
