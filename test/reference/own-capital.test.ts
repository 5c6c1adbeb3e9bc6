import { expect, test } from "vitest";
import type { Deal } from "./engine/allocate.ts";
import type { PoolEngine } from "./engine/pool-engine.ts";
import { modelPool, newTally } from "./model-pool.ts";

const [P, Q] = [77n, 78n];
const LOT = 100_000_000n;

const open = (positionId: bigint): Deal => ({ kind: "entry", positionId, volume: LOT, volumeClosed: 0n, result: 0n });
const close = (positionId: bigint, result: bigint): Deal => {
  return { kind: "exit", positionId, volume: LOT, volumeClosed: LOT, result };
};

/** Own capital of 0.05 beside two Investors, whose carry is not 0. */
function aPoolWithLittleOwnCapital(): PoolEngine {
  const pool = modelPool(newTally());
  pool.arrive(1n, 300_000_00n);
  pool.arrive(2n, 700_000_00n);
  pool.arrive("own", 5n);
  pool.strike(new Map());
  pool.allocate(open(P));
  pool.allocate(open(Q));
  pool.allocate(close(P, 1_000_00n));
  return pool;
}

test.each([
  // A floating result of 0.01 is 5e-10 for own capital, and one of 100.00 is 5e-6.
  ["below 1e-8 is none, so the largest holding gets its remainder at once", 1n],
  ["from 1e-8 on keeps its remainder until it is released", 100_00n],
])("a share of own capital without units in a floating result %s", (_what, floating) => {
  const pool = aPoolWithLittleOwnCapital();
  pool.depart("own", 100_00n);
  pool.strike(new Map([[Q, floating]]));
  pool.allocate(open(P));
  const paid = pool.allocate(close(P, 333_33n));
  expect(paid.reduce((sum, { cents }) => sum + cents, 0n)).toBe(333_33n);
  pool.allocate(close(Q, floating));
});
