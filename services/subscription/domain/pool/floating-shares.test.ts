import { expect, test } from "vitest";
import { aMark, aPool, after, struck, withDeposit } from "../../testing/pools.ts";
import { floatingShares } from "./floating-shares.ts";

const [P, Q] = [71n, 72n];
const E8 = 100_000_000n;

test("the attributed result stays with the holdings that earned it, the rest is shared by units", () => {
  const open = after(aPool(1_000_00n), { kind: "entry", positionId: P });
  const joined = struck(withDeposit(open, 2n, 1_450_00n), aMark(P, 450_00n));
  expect(floatingShares(joined, new Map([[P, 350_00n]]))).toEqual(
    new Map([
      [1n, 400n * E8],
      [2n, -50n * E8],
    ]),
  );
});

test("a position without a result counts with its mark, an unknown position is ignored", () => {
  const open = struck(after(aPool(1_000_00n), { kind: "entry", positionId: P }), aMark(P, -3_00n));
  expect(floatingShares(open, new Map([[Q, 99_00n]]))).toEqual(new Map([[1n, -3n * E8]]));
});

test("shares are net over positions, and rounded to the nearest", () => {
  const two = after(after(aPool(1_00n, 1_00n, 1_00n), { kind: "entry", positionId: P }), {
    kind: "entry",
    positionId: Q,
  });
  const shares = floatingShares(
    two,
    new Map([
      [P, 3_00n],
      [Q, -2_98n],
    ]),
  );
  expect([...shares.values()]).toEqual([666_667n, 666_667n, 666_667n]);
});
