import { expect, test } from "vitest";
import {
  aDeal,
  allocated,
  aMark,
  anEmptyHolding,
  aPool,
  after,
  partsOf,
  pooled,
  struck,
  withDeposit,
} from "../../testing/pools.ts";
import { allocateDeal } from "./allocate-deal.ts";
import { equityOf } from "./equity.ts";
import { takeOut } from "./take-out.ts";
import { EMPTY_POOL, type UnitPool } from "./unit-pool.ts";

const [P, Q] = [71n, 72n];
const E8 = 100_000_000n;

/** Allocates charges one after the other; the parts of each. */
function charges(start: UnitPool, results: readonly bigint[]): { pool: UnitPool; parts: bigint[][] } {
  let pool = start;
  const parts = results.map((result) => {
    const allocation = allocated(pool, { kind: "charge", result });
    pool = allocation.pool;
    return partsOf(allocation);
  });
  return { pool, parts };
}

test("three equal holdings get the remaining cent in turn", () => {
  const { pool, parts } = charges(aPool(1_000_00n, 1_000_00n, 1_000_00n), [100_00n, 100_00n, 100_00n]);
  expect(parts).toEqual([
    [33_34n, 33_33n, 33_33n],
    [33_33n, 33_34n, 33_33n],
    [33_33n, 33_33n, 33_34n],
  ]);
  expect(pooled(pool)).toEqual([1_100_00n, 1_100_00n, 1_100_00n]);
  expect(partsOf(allocated(pool, { kind: "charge", result: 100_00n }))).toEqual([33_34n, 33_33n, 33_33n]);
});

test("a loss is rounded like a profit, and the next cent goes to the holding with the largest carry", () => {
  const { parts } = charges(aPool(1_000_00n, 1_000_00n, 1_000_00n), [-100_00n, 1n]);
  expect(parts).toEqual([
    [-33_33n, -33_33n, -33_34n],
    [0n, 0n, 1n],
  ]);
});

test("a holding without units still receives the result that it earned with units", () => {
  const open = after(aPool(100_00n, 50_00n), { kind: "entry", positionId: P });
  const earned = struck(takeOut(open, 2n, 50_00n), aMark(P, 15_00n));
  const withdrawn = struck(takeOut(earned, 2n, 5_00n), aMark(P, 15_00n));
  expect([withdrawn.holdings[1]!.units, withdrawn.holdings[1]!.pooled, equityOf(withdrawn, 2n)]).toEqual([
    0n,
    -5_00n,
    0n,
  ]);
  const allocation = allocated(withdrawn, { positionId: P, result: 15_00n });
  expect(partsOf(allocation)).toEqual([10_00n, 5_00n]);
});

test("a holding without units and accruals passes its carry to the largest holding", () => {
  const carries = after(aPool(1_000_00n, 1_000_00n, 1_000_00n), { kind: "charge", result: 1_00n });
  expect(carries.holdings.map((holding) => holding.carry)).toEqual([-666_666n, 333_333n, 333_333n]);
  const empty = struck(takeOut(carries, 3n, 1_000_33n));
  expect(empty.holdings[2]).toEqual({ ...anEmptyHolding(3n), carry: 333_333n });
  const next = after(empty, { kind: "charge", result: 2n });
  expect(next.holdings[2]).toEqual(anEmptyHolding(3n));
});

test("partial closes do not lose the last cent of suspense", () => {
  const open = struck(withDeposit(EMPTY_POOL, 1n, 100_00n), aMark(P, -15n, 7n));
  const first = allocated(open, { positionId: P, volume: 4n, result: -9n });
  const second = allocated(first.pool, { positionId: P, volume: 3n, result: -6n });
  expect([first.own, second.own, second.pool.own.carry]).toEqual([-9n, -6n, 0n]);
});

test("an accrual below 1e-8 USD does not keep the carry of a holding without units", () => {
  const carries = after(aPool(1_00n, 1_00n, 1_00n), { kind: "charge", result: 1_00n });
  const open = after(carries, { kind: "entry", positionId: P });
  const marked = struck(struck(open, aMark(P, 1n)), aMark(P, 0n));
  const empty = struck(takeOut(marked, 1n, 1_34n), aMark(P, 0n));
  expect(empty.accruals.map(({ subscriptionId, basis }) => [subscriptionId, basis])).toEqual([[1n, -100_000_000n]]);
  expect(empty.holdings[0]!.carry).toBe(-666_666n);
  expect(after(empty, { kind: "charge", result: 1n }).holdings[0]).toEqual(anEmptyHolding(1n));
});

test("while no holding has units results go to suspense to the cent", () => {
  const empty = struck(withDeposit(EMPTY_POOL, 1n, 0n));
  const allocation = allocated(empty, { kind: "charge", result: -1_23n });
  expect(allocation).toEqual({
    pool: { ...empty, own: { ...empty.own, pooled: -1_23n } },
    parts: [],
    own: -1_23n,
  });
});

test("a partial close releases the same part of the attributed result", () => {
  const open = after(aPool(1_000_00n), { kind: "entry", positionId: P, volume: 4n });
  const joined = struck(withDeposit(open, 2n, 1_400_00n), aMark(P, 400_00n, 4n));
  const quarter = allocated(joined, { positionId: P, volume: 1n, result: 100_00n });
  expect(partsOf(quarter)).toEqual([100_00n, 0n]);
  expect([quarter.pool.positions[0]!.volume, equityOf(quarter.pool, 1n)]).toEqual([3n, 1_400n * E8]);
  expect(partsOf(allocated(quarter.pool, { positionId: P, volume: 3n, result: 300_00n }))).toEqual([300_00n, 0n]);
});

test("a close at 0.00 still pays the attributed results", () => {
  const open = after(aPool(100_00n, 100_00n), { kind: "entry", positionId: P });
  const late = struck(withDeposit(open, 3n, 250_00n), aMark(P, 50_00n));
  expect(partsOf(allocated(late, { positionId: P, result: 0n }))).toEqual([12_50n, 12_50n, -25_00n]);
});

test("a close-by closes one position and a part of the other, and its result is allocated once", () => {
  const [one, two] = [after(aPool(60_00n, 40_00n), { kind: "entry", positionId: P, volume: 1n }), Q];
  const open = struck(
    after(one, { kind: "entry", positionId: two, volume: 3n }),
    aMark(P, 10_00n, 1n),
    aMark(Q, -9_00n, 3n),
  );
  const first = allocated(open, { positionId: P, volume: 1n, result: 7_00n });
  const second = allocated(first.pool, { positionId: Q, volume: 1n, result: 0n });
  expect([partsOf(first), partsOf(second)]).toEqual([
    [4_20n, 2_80n],
    [0n, 0n],
  ]);
  expect(second.pool.positions.map(({ positionId, volume }) => [positionId, volume])).toEqual([[Q, 2n]]);
});

test("a reversal closes the position and opens the opposite one without attributed result", () => {
  const open = after(aPool(100_00n), { kind: "entry", positionId: P, volume: 2n });
  const joined = struck(withDeposit(open, 2n, 150_00n), aMark(P, 50_00n, 2n));
  const turned = allocated(joined, { kind: "reversal", positionId: P, volume: 5n, volumeClosed: 2n, result: 50_00n });
  expect(partsOf(turned)).toEqual([50_00n, 0n]);
  expect(turned.pool.positions).toEqual([
    { positionId: P, symbol: "EURUSD", volume: 3n, mark: 0n, perUnit: 0n, valued: 0n },
  ]);
  expect(turned.pool.accruals).toEqual([]);
});

test("without a closed volume from the server an exit closes its volume and a reversal the open volume", () => {
  const open = after(aPool(100_00n), { kind: "entry", positionId: P, volume: 3n });
  const volumeAfter = (kind: "exit" | "reversal", volume: bigint): bigint[] =>
    after(open, { kind, positionId: P, volume, volumeClosed: 0n }).positions.map((position) => position.volume);
  expect([volumeAfter("exit", 1n), volumeAfter("exit", 3n), volumeAfter("reversal", 5n)]).toEqual([[2n], [], [2n]]);
});

test("increasing a position does not change its attributed result; its commission is allocated at once", () => {
  const open = after(aPool(75_00n, 25_00n), { kind: "entry", positionId: P, volume: 1n });
  const marked = struck(open, aMark(P, 8_00n, 1n));
  const grown = allocated(marked, { kind: "entry", positionId: P, volume: 2n, result: -4n });
  expect(partsOf(grown)).toEqual([-3n, -1n]);
  expect(grown.pool.positions).toEqual([{ ...marked.positions[0]!, volume: 3n }]);
});

test("the result of a position that the books do not contain is shared by units", () => {
  const allocation = allocateDeal(aPool(100_00n, 300_00n), aDeal({ positionId: Q, result: 4_00n }));
  expect(partsOf(allocation)).toEqual([1_00n, 3_00n]);
});
