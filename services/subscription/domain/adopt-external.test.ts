import fc from "fast-check";
import { expect, test } from "vitest";
import { adoptExternal } from "./adopt-external.ts";
import { EMPTY_HOLDING, NOTHING_ON_ACCOUNT, onInvestor, onMaster } from "./buckets.ts";

const adopted = (quarantined: bigint, pooled: bigint) =>
  adoptExternal({ ...NOTHING_ON_ACCOUNT, quarantined }, { ...EMPTY_HOLDING, pooled });

test("what came joins the pool by the next mirror", () => {
  expect(adopted(30_00n, 100_00n)).toEqual({
    change: { quarantined: -30_00n, inbound: 30_00n },
    flow: 30_00n,
    unredeemed: 0n,
  });
});

test("what was taken leaves the pool, and its units follow", () => {
  expect(adopted(-30_00n, 100_00n)).toEqual({
    change: { quarantined: 30_00n, pooled: -30_00n, outbound: 30_00n },
    flow: -30_00n,
    unredeemed: 30_00n,
  });
});

test("more than works in the pool cannot leave it", () => {
  expect(adopted(-100_01n, 100_00n)).toBeUndefined();
});

test("neither account changes by the decision: each cent only stands elsewhere", () => {
  fc.assert(
    fc.property(fc.bigInt(-100_00n, 100_00n), (quarantined) => {
      const change = adopted(quarantined, 100_00n)?.change ?? {};
      expect([onInvestor(change), onMaster(change)]).toEqual([0n, 0n]);
    }),
  );
});
