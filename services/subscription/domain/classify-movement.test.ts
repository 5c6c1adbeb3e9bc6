import fc from "fast-check";
import { expect, test } from "vitest";
import { classifyInvestorMovement, type InvestorFacts, type MovementKind, returnReserve } from "./classify-movement.ts";
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
  "review_reversal",
  "external",
  "trade",
  "amendment",
  "correction",
];
/** Kinds that move no money. */
const WITHOUT_MONEY: ReadonlySet<MovementKind> = new Set(["amendment"]);
const POOLED: InvestorFacts = { isPooled: true, reserve: undefined };
const OUTSIDE: InvestorFacts = { isPooled: false, reserve: undefined };
const none = { flow: 0n, furtherExit: 0n, unredeemed: 0n };

/** With a reserve of 30. */
function reserved({ isPooled = true, isOutside = false } = {}): InvestorFacts {
  return { isPooled, reserve: { amount: 30n, isPooled, isOutside } };
}

test.each<
  [string, readonly [MovementKind, bigint], InvestorFacts, Partial<ReturnType<typeof classifyInvestorMovement>>]
>([
  ["a deposit in a pool is inbound", ["deposit", 100n], POOLED, { change: { inbound: 100n }, flow: 100n }],
  ["a deposit without a pool stays outside", ["deposit", 100n], OUTSIDE, { change: { outside: 100n } }],
  ["a reversed debit is credited like a deposit", ["reversal", 5n], POOLED, { change: { inbound: 5n }, flow: 5n }],
  ["a negative reversal is quarantined", ["reversal", -5n], POOLED, { change: { quarantined: -5n } }],
  ["a deposit of the wrong sign is quarantined", ["deposit", -5n], POOLED, { change: { quarantined: -5n } }],
  ["a withdrawal of the wrong sign is quarantined", ["withdrawal", 5n], POOLED, { change: { quarantined: 5n } }],
  ["a posted result lowers what is unposted", ["result", -7n], POOLED, { change: { unposted: 7n } }],
  ["an amendment moves no money", ["amendment", 0n], POOLED, { change: {} }],
  [
    "a debit without a reserve leaves the pool at once",
    ["fee_debit", -30n],
    POOLED,
    { change: { pooled: -30n, outbound: 30n }, flow: -30n, unredeemed: 30n },
  ],
  ["a debit without a pool is taken from outside", ["withdrawal", -30n], OUTSIDE, { change: { outside: -30n } }],
  [
    "a debit settles its reserve completely",
    ["withdrawal", -30n],
    reserved(),
    { change: { reserved: -30n, outbound: 30n }, flow: -30n },
  ],
  [
    "the unused part of a reserve waits for units again",
    ["fee_debit", -10n],
    reserved(),
    { change: { reserved: -30n, outbound: 10n, waiting: 20n }, flow: -10n },
  ],
  [
    "the unused part of a reserve leaves by a further exit when the Investor has left",
    ["fee_debit", -10n],
    reserved({ isPooled: false }),
    { change: { reserved: -30n, outbound: 30n, outside: 20n }, flow: -10n, furtherExit: 20n },
  ],
  [
    "the part of a debit above its reserve is a plain debit",
    ["withdrawal", -50n],
    reserved(),
    { change: { reserved: -30n, outbound: 50n, pooled: -20n }, flow: -50n, unredeemed: 20n },
  ],
  [
    "a reserve outside of the pool is money of the account only",
    ["withdrawal", -30n],
    reserved({ isOutside: true }),
    { change: { outside: -30n } },
  ],
  [
    "the unused part of a reserve outside of the pool waits for its mirror again",
    ["fee_debit", -10n],
    reserved({ isOutside: true }),
    { change: { outside: -30n, inbound: 20n }, flow: 20n },
  ],
  [
    "the unused part of a reserve outside stays there when the Investor has left",
    ["fee_debit", -10n],
    reserved({ isPooled: false, isOutside: true }),
    { change: { outside: -10n } },
  ],
])("%s", (_, [kind, amount], facts, expected) => {
  const { change, ...effect } = classifyInvestorMovement({ kind, amount }, facts);
  const moved = Object.fromEntries(Object.entries(change).filter(([, minor]) => minor !== 0n));
  expect({ ...effect, change: moved }).toEqual({ ...none, ...expected });
});

test.each(["external", "review_reversal", "correction", "opening", "trade", "mirror", "exit", "fee_credit"] as const)(
  "%s of either sign on an Investor is quarantined in a pool and stays outside without one",
  (kind) => {
    for (const amount of [-5n, 5n]) {
      expect(classifyInvestorMovement({ kind, amount }, POOLED)).toEqual({ ...none, change: { quarantined: amount } });
      expect(classifyInvestorMovement({ kind, amount }, OUTSIDE)).toEqual({ ...none, change: { outside: amount } });
    }
  },
);

test("every movement changes the buckets on the Investor by its amount and those on the Master by nothing", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...KINDS),
      fc.bigInt(-1_000n, 1_000n),
      fc.boolean(),
      fc.option(fc.record({ amount: fc.bigInt(1n, 1_000n), isOutside: fc.boolean() }), { nil: undefined }),
      (kind, amount, isPooled, reserved) => {
        const reserve = reserved && { ...reserved, isPooled };
        const { change, flow, furtherExit } = classifyInvestorMovement({ kind, amount }, { isPooled, reserve });
        expect(onInvestor(change)).toBe(WITHOUT_MONEY.has(kind) ? 0n : amount);
        expect(onMaster(change)).toBe(0n);
        // The change of inbound and outbound equals the transfers that are sent to the Master.
        expect((change.inbound ?? 0n) - (change.outbound ?? 0n)).toBe(flow - furtherExit);
      },
    ),
  );
});

test("a returned reserve changes no account balance", () => {
  for (const isPooled of [true, false]) {
    const { change, furtherExit } = returnReserve({ amount: 30n, isPooled, isOutside: false });
    expect([onInvestor(change), onMaster(change)]).toEqual([0n, 0n]);
    expect(furtherExit).toBe(isPooled ? 0n : 30n);
    const outside = returnReserve({ amount: 30n, isPooled, isOutside: true });
    expect([onInvestor(outside.change), onMaster(outside.change), outside.furtherExit]).toEqual([0n, 0n, 0n]);
    expect(outside.flow).toBe(isPooled ? 30n : 0n);
  }
});
