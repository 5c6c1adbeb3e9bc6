import fc from "fast-check";
import { expect, test } from "vitest";
import {
  classifyInvestorMovement,
  classifyMasterMovement,
  type InvestorFacts,
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

test("a deposit is inbound in a pool and stays outside without one", () => {
  const deposit = { kind: "deposit", amount: 100n } as const;
  expect(classifyInvestorMovement(deposit, POOLED)).toEqual({ ...none, change: { inbound: 100n }, flow: 100n });
  expect(classifyInvestorMovement(deposit, OUTSIDE)).toEqual({ ...none, change: { outside: 100n } });
});

test("a reversed debit is credited like a deposit", () => {
  expect(classifyInvestorMovement({ kind: "reversal", amount: 5n }, POOLED)).toMatchObject({ change: { inbound: 5n } });
  expect(classifyInvestorMovement({ kind: "reversal", amount: 5n }, OUTSIDE)).toMatchObject({
    change: { outside: 5n },
  });
  expect(classifyInvestorMovement({ kind: "reversal", amount: -5n }, POOLED)).toEqual({
    ...none,
    change: { quarantined: -5n },
  });
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

test("a posted result lowers what is unposted", () => {
  expect(classifyInvestorMovement({ kind: "result", amount: -7n }, POOLED)).toEqual({
    ...none,
    change: { unposted: 7n },
  });
});

test.each(["withdrawal", "fee_debit"] as const)(
  "%s without a reserve leaves the pool at once, or is taken from the outside bucket",
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

test("an amendment moves no money", () => {
  const amendment = { kind: "amendment", amount: 0n } as const;
  expect(classifyInvestorMovement(amendment, POOLED)).toEqual({ ...none, change: {} });
  expect(classifyMasterMovement(amendment, undefined)).toBe("amendment");
});

test("a debit settles its reserve completely", () => {
  const facts = { isPooled: true, reserve: { amount: 30n, isPooled: true, isOutside: false } };
  expect(classifyInvestorMovement({ kind: "withdrawal", amount: -30n }, facts)).toMatchObject({
    change: { reserved: -30n, outbound: 30n },
    flow: -30n,
    furtherExit: 0n,
    unredeemed: 0n,
  });
});

test("the unused part of a reserve waits for units again", () => {
  const facts = { isPooled: true, reserve: { amount: 30n, isPooled: true, isOutside: false } };
  expect(classifyInvestorMovement({ kind: "fee_debit", amount: -10n }, facts)).toMatchObject({
    change: { reserved: -30n, outbound: 10n, waiting: 20n },
    flow: -10n,
    furtherExit: 0n,
    unredeemed: 0n,
  });
});

test("after the Investor left the pool, the unused part of a reserve leaves by a further exit transfer", () => {
  const facts = { isPooled: false, reserve: { amount: 30n, isPooled: false, isOutside: false } };
  expect(classifyInvestorMovement({ kind: "fee_debit", amount: -10n }, facts)).toMatchObject({
    change: { reserved: -30n, outbound: 30n, outside: 20n },
    flow: -10n,
    furtherExit: 20n,
    unredeemed: 0n,
  });
});

test("the part of a debit above its reserve is a plain debit", () => {
  const facts = { isPooled: true, reserve: { amount: 30n, isPooled: true, isOutside: false } };
  expect(classifyInvestorMovement({ kind: "withdrawal", amount: -50n }, facts)).toMatchObject({
    change: { reserved: -30n, outbound: 50n, pooled: -20n },
    flow: -50n,
    unredeemed: 20n,
  });
});

test("a reserve outside of the pool is money of the account only, and its unused part waits for its mirror again", () => {
  const reserve = { amount: 30n, isOutside: true };
  const pooled = { isPooled: true, reserve: { ...reserve, isPooled: true } };
  expect(classifyInvestorMovement({ kind: "withdrawal", amount: -30n }, pooled)).toMatchObject({
    change: { outside: -30n },
    flow: 0n,
    unredeemed: 0n,
  });
  expect(classifyInvestorMovement({ kind: "fee_debit", amount: -10n }, pooled)).toMatchObject({
    change: { outside: -30n, inbound: 20n },
    flow: 20n,
  });
  const left = { isPooled: false, reserve: { ...reserve, isPooled: false } };
  expect(classifyInvestorMovement({ kind: "fee_debit", amount: -10n }, left)).toMatchObject({
    change: { outside: -10n },
    flow: 0n,
    furtherExit: 0n,
  });
});

test("a movement whose sign contradicts its kind is quarantined", () => {
  expect(classifyInvestorMovement({ kind: "deposit", amount: -5n }, POOLED).change).toEqual({ quarantined: -5n });
  expect(classifyInvestorMovement({ kind: "withdrawal", amount: 5n }, POOLED).change).toEqual({ quarantined: 5n });
});

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

test("on a Master everything except transfers of the service and deals of the trader is external", () => {
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
      if (kind === "agent_commission") return [kind, "own", "own", "own"];
      if (kind === "amendment") return [kind, "amendment", "amendment", "amendment"];
      if (kind === "mirror" || kind === "exit") return [kind, "external", "transfer", "wrong_amount"];
      return [kind, "external", "external", "external"];
    }),
  );
});
