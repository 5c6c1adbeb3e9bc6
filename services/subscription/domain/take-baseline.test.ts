import fc from "fast-check";
import { expect, test } from "vitest";
import { changeAccount, onInvestor } from "./buckets.ts";
import { takeBaseline } from "./take-baseline.ts";

test("the held balance goes into the pool", () => {
  expect(takeBaseline({ outside: 100n, quarantined: 0n, unposted: 0n }, 100n)).toEqual({
    account: { outside: -100n, quarantined: 0n },
    inbound: 100n,
  });
});

test("what came after the account lock was taken is foreign, whatever its sign; nothing stays outside", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 1_000n), fc.bigInt(-1_000n, 1_000n), (held, unmatched) => {
      const before = { outside: held + unmatched, quarantined: 0n, unposted: 0n };
      const { account, inbound } = takeBaseline(before, held);
      const after = changeAccount(before, account);
      expect(after).toEqual({ outside: 0n, quarantined: unmatched, unposted: 0n });
      expect(onInvestor({ ...after, inbound })).toBe(onInvestor(before));
    }),
  );
});
