import fc from "fast-check";
import { expect, test } from "vitest";
import { onInvestor, onMaster } from "./buckets.ts";
import { adoptExternal } from "./quarantine.ts";

const adopted = (amount: bigint, pooled: bigint) => adoptExternal(amount, { pooled });

test("an external deposit joins the pool with the next mirror", () => {
  expect(adopted(30_00n, 100_00n)).toEqual({
    change: { quarantined: -30_00n, inbound: 30_00n },
    flow: 30_00n,
    unredeemed: 0n,
  });
});

test("an external withdrawal leaves the pool, and its units are redeemed later", () => {
  expect(adopted(-30_00n, 100_00n)).toEqual({
    change: { quarantined: 30_00n, pooled: -30_00n, outbound: 30_00n },
    flow: -30_00n,
    unredeemed: 30_00n,
  });
});

test("an external withdrawal above the pooled amount is not adopted", () => {
  expect(adopted(-100_01n, 100_00n)).toBeUndefined();
});

test("adoption moves money between buckets and changes no account balance", () => {
  fc.assert(
    fc.property(fc.bigInt(-100_00n, 100_00n), (quarantined) => {
      const change = adopted(quarantined, 100_00n)?.change ?? {};
      expect([onInvestor(change), onMaster(change)]).toEqual([0n, 0n]);
    }),
  );
});
