import fc from "fast-check";
import { expect, test } from "vitest";
import { changeAccount, onInvestor, takeBaseline } from "./buckets.ts";

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
