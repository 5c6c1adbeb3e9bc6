import fc from "fast-check";
import { expect, test } from "vitest";
import {
  ACCOUNT_BUCKETS,
  type Change,
  changeAccount,
  changeHolding,
  combine,
  EMPTY_HOLDING,
  isEmptyHolding,
  NOTHING_ON_ACCOUNT,
  onInvestor,
  onMaster,
  takeBaseline,
  type Bucket,
  HOLDING_BUCKETS,
} from "./buckets.ts";

const BUCKETS: readonly Bucket[] = [...ACCOUNT_BUCKETS, ...HOLDING_BUCKETS];
const aChange = fc.record(Object.fromEntries(BUCKETS.map((bucket) => [bucket, fc.bigInt(-1_000n, 1_000n)])), {
  requiredKeys: [],
}) as fc.Arbitrary<Change>;

test("each bucket counts on the accounts that hold its money", () => {
  const shown = BUCKETS.map((bucket) => [bucket, onInvestor({ [bucket]: 1n }), onMaster({ [bucket]: 1n })]);
  expect(shown).toEqual([
    ["outside", 1n, 0n],
    ["quarantined", 1n, 0n],
    ["unposted", -1n, 0n],
    ["inbound", 1n, 0n],
    ["waiting", 1n, 1n],
    ["pooled", 1n, 1n],
    ["reserved", 1n, 1n],
    ["outbound", 0n, 1n],
  ]);
});

test("combined changes have the sum of their effects", () => {
  fc.assert(
    fc.property(aChange, aChange, (left, right) => {
      const both = combine(left, right);
      expect(onInvestor(both)).toBe(onInvestor(left) + onInvestor(right));
      expect(onMaster(both)).toBe(onMaster(left) + onMaster(right));
      expect(changeHolding(changeHolding(EMPTY_HOLDING, left), right)).toEqual(changeHolding(EMPTY_HOLDING, both));
      expect(changeAccount(changeAccount(NOTHING_ON_ACCOUNT, left), right)).toEqual(
        changeAccount(NOTHING_ON_ACCOUNT, both),
      );
    }),
  );
});

test("a holding is empty only when all buckets are 0", () => {
  expect(isEmptyHolding(EMPTY_HOLDING)).toBe(true);
  for (const bucket of HOLDING_BUCKETS) expect(isEmptyHolding({ ...EMPTY_HOLDING, [bucket]: 1n })).toBe(false);
});

test("money of either sign that came after the account lock was acquired is quarantined, and nothing stays outside", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 1_000n), fc.bigInt(-1_000n, 1_000n), (held, later) => {
      const before = { outside: held + later, quarantined: 0n, unposted: 0n };
      const { account, inbound } = takeBaseline(before, held);
      const after = changeAccount(before, account);
      expect(after).toEqual({ outside: 0n, quarantined: later, unposted: 0n });
      expect(onInvestor({ ...after, inbound })).toBe(onInvestor(before));
    }),
  );
});

test("what is still to be posted from a pool that the Investor has left joins too", () => {
  expect(takeBaseline({ outside: 130n, quarantined: 0n, unposted: 30n }, 100n)).toEqual({
    account: { outside: -130n, quarantined: 0n },
    inbound: 130n,
  });
});
