import { expect, test } from "vitest";
import { allocated, aMark, anEmptyHolding, aPool, after, struck, withDeposit } from "../../testing/pools.ts";
import { takeOut } from "./take-out.ts";
import { EMPTY_POOL } from "./unit-pool.ts";

const P = 71n;

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

test("without a closed volume from the server an exit closes its volume and a reversal the open volume", () => {
  const open = after(aPool(100_00n), { kind: "entry", positionId: P, volume: 3n });
  const volumeAfter = (kind: "exit" | "reversal", volume: bigint): bigint[] =>
    after(open, { kind, positionId: P, volume, volumeClosed: 0n }).positions.map((position) => position.volume);
  expect([volumeAfter("exit", 1n), volumeAfter("exit", 3n), volumeAfter("reversal", 5n)]).toEqual([[2n], [], [2n]]);
});
