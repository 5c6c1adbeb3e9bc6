import fc from "fast-check";
import { expect, test } from "vitest";
import {
  classifyInvestorMovement,
  classifyMasterMovement,
  type InvestorStanding,
  type MovementKind,
  returnReserve,
} from "./classify-movement.ts";
import { onInvestor, onMaster } from "./buckets.ts";

const KINDS: readonly MovementKind[] = [
  "opening",
  "deposit",
  "withdrawal",
  "fee_debit",
  "fee_credit",
  "result",
  "mirror",
  "exit",
  "reversal",
  "taken_back",
  "external",
  "trade",
  "amendment",
  "correction",
];
/** These move nothing by themselves. */
const STILL: ReadonlySet<MovementKind> = new Set(["amendment"]);
const POOLED: InvestorStanding = { isPooled: true, reserve: undefined };
const OUTSIDE: InvestorStanding = { isPooled: false, reserve: undefined };
const none = { flow: 0n, furtherExit: 0n, unredeemed: 0n };

test("a deposit is on its way into the pool, or stays outside", () => {
  const deposit = { kind: "deposit", amount: 100n } as const;
  expect(classifyInvestorMovement(deposit, POOLED)).toEqual({ ...none, change: { inbound: 100n }, flow: 100n });
  expect(classifyInvestorMovement(deposit, OUTSIDE)).toEqual({ ...none, change: { outside: 100n } });
});

test("money that comes back is like a deposit", () => {
  expect(classifyInvestorMovement({ kind: "reversal", amount: 5n }, POOLED)).toMatchObject({ change: { inbound: 5n } });
  expect(classifyInvestorMovement({ kind: "reversal", amount: 5n }, OUTSIDE)).toMatchObject({
    change: { outside: 5n },
  });
  expect(classifyInvestorMovement({ kind: "reversal", amount: -5n }, POOLED)).toEqual({
    ...none,
    change: { quarantined: -5n },
  });
});

test.each(["external", "taken_back", "correction", "opening", "trade", "mirror", "exit", "fee_credit"] as const)(
  "%s on an Investor is quarantined in a pool and stays outside of one, up or down",
  (kind) => {
    for (const amount of [-5n, 5n]) {
      expect(classifyInvestorMovement({ kind, amount }, POOLED)).toEqual({ ...none, change: { quarantined: amount } });
      expect(classifyInvestorMovement({ kind, amount }, OUTSIDE)).toEqual({ ...none, change: { outside: amount } });
    }
  },
);

test("a posted result lowers what is unposted", () => {
  expect(classifyInvestorMovement({ kind: "result", amount: -7n }, POOLED)).toEqual({
    ...none,
    change: { unposted: 7n },
  });
});

test.each(["withdrawal", "fee_debit"] as const)(
  "%s without a reserve leaves the pool at once, or is taken outside",
  (kind) => {
    expect(classifyInvestorMovement({ kind, amount: -30n }, POOLED)).toEqual({
      ...none,
      unredeemed: 30n,
      change: { pooled: -30n, outbound: 30n },
      flow: -30n,
    });
    expect(classifyInvestorMovement({ kind, amount: -30n }, OUTSIDE)).toEqual({ ...none, change: { outside: -30n } });
  },
);

test("a past that was changed moves nothing, on a Master it is for manual review to say what follows", () => {
  const changed = { kind: "amendment", amount: 0n } as const;
  expect(classifyInvestorMovement(changed, POOLED)).toEqual({ ...none, change: {} });
  expect(classifyMasterMovement(changed, undefined)).toBe("irregular");
});

test("a debit settles its reserve whole", () => {
  const standing = { isPooled: true, reserve: { amount: 30n, isPooled: true } };
  expect(classifyInvestorMovement({ kind: "withdrawal", amount: -30n }, standing)).toMatchObject({
    change: { reserved: -30n, outbound: 30n },
    flow: -30n,
    furtherExit: 0n,
    unredeemed: 0n,
  });
});

test("what a debit did not take waits for its units again", () => {
  const standing = { isPooled: true, reserve: { amount: 30n, isPooled: true } };
  expect(classifyInvestorMovement({ kind: "fee_debit", amount: -10n }, standing)).toMatchObject({
    change: { reserved: -30n, outbound: 10n, waiting: 20n },
    flow: -10n,
    furtherExit: 0n,
    unredeemed: 0n,
  });
});

test("after the pool was left, what a debit did not take follows by a further exit transfer", () => {
  const standing = { isPooled: false, reserve: { amount: 30n, isPooled: false } };
  expect(classifyInvestorMovement({ kind: "fee_debit", amount: -10n }, standing)).toMatchObject({
    change: { reserved: -30n, outbound: 30n, outside: 20n },
    flow: -10n,
    furtherExit: 20n,
    unredeemed: 0n,
  });
});

test("what a debit took beyond its reserve is a plain debit", () => {
  const standing = { isPooled: true, reserve: { amount: 30n, isPooled: true } };
  expect(classifyInvestorMovement({ kind: "withdrawal", amount: -50n }, standing)).toMatchObject({
    change: { reserved: -30n, outbound: 50n, pooled: -20n },
    flow: -50n,
    unredeemed: 20n,
  });
});

test("a movement whose sign does not fit its kind belongs to nobody", () => {
  expect(classifyInvestorMovement({ kind: "deposit", amount: -5n }, POOLED).change).toEqual({ quarantined: -5n });
  expect(classifyInvestorMovement({ kind: "withdrawal", amount: 5n }, POOLED).change).toEqual({ quarantined: 5n });
});

test("whatever moves on an Investor shows there to the cent, and on the Master not yet", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...KINDS),
      fc.bigInt(-1_000n, 1_000n),
      fc.boolean(),
      fc.option(fc.bigInt(1n, 1_000n), { nil: undefined }),
      (kind, amount, isPooled, reserved) => {
        const reserve = reserved === undefined ? undefined : { amount: reserved, isPooled };
        const { change, flow, furtherExit } = classifyInvestorMovement({ kind, amount }, { isPooled, reserve });
        expect(onInvestor(change)).toBe(STILL.has(kind) ? 0n : amount);
        expect(onMaster(change)).toBe(0n);
        // What is on its way is exactly what the Master is going to be told.
        expect((change.inbound ?? 0n) - (change.outbound ?? 0n)).toBe(flow - furtherExit);
      },
    ),
  );
});

test("a reserve that is given back moves nothing on any account", () => {
  for (const isPooled of [true, false]) {
    const { change, furtherExit } = returnReserve(30n, isPooled);
    expect([onInvestor(change), onMaster(change)]).toEqual([0n, 0n]);
    expect(furtherExit).toBe(isPooled ? 0n : 30n);
  }
});

test("on a Master only our own transfers and the trader's deals are anybody's", () => {
  const expected = { amount: 100n };
  const effects = KINDS.map((kind) => [
    kind,
    classifyMasterMovement({ kind, amount: 100n }, undefined),
    classifyMasterMovement({ kind, amount: 100n }, expected),
    classifyMasterMovement({ kind, amount: 99n }, expected),
  ]);
  expect(effects).toEqual(
    KINDS.map((kind) => {
      if (kind === "trade") return [kind, "result", "result", "result"];
      if (kind === "amendment") return [kind, "irregular", "irregular", "irregular"];
      if (kind === "mirror" || kind === "exit") return [kind, "external", "transfer", "unfitting"];
      return [kind, "external", "external", "external"];
    }),
  );
});
