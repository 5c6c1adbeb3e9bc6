import fc from "fast-check";
import { expect, test } from "vitest";
import { decideDeparture, type DepartureFacts, openClaims } from "./decide-departure.ts";

const FACTS: DepartureFacts = {
  kind: "WITHDRAWAL",
  requested: 5_000_00n,
  held: 12_000_00n,
  unposted: 0n,
  quarantined: 0n,
  reserved: 0n,
  pooled: 12_000_00n,
  due: [],
};
const FEE = { key: "fee:payment:2", amount: 600_00n, isWeekly: false };
const WEEKLY = { key: "fee:payment:1", amount: 50_00n, isWeekly: true };

function numbersOf(facts: Partial<DepartureFacts>) {
  return decideDeparture({ ...FACTS, ...facts }, "out").numbers;
}

test("an open weekly fee reduces the balance and is not pending", () => {
  expect(decideDeparture({ ...FACTS, due: [WEEKLY, FEE], requested: 99_999_00n }, "out")).toEqual({
    numbers: { before: 11_950_00n, pending: 600_00n, available: 11_350_00n, effective: 11_350_00n },
    reserves: [
      { key: WEEKLY.key, amount: 50_00n },
      { key: FEE.key, amount: 600_00n },
      { key: "out", amount: 11_350_00n },
    ],
  });
});

test("fees are reserved in their order as far as the balance covers them", () => {
  expect(decideDeparture({ ...FACTS, held: 620_00n, pooled: 620_00n, due: [WEEKLY, FEE] }, "out")).toEqual({
    numbers: { before: 570_00n, pending: 600_00n, available: 0n, effective: 0n },
    reserves: [
      { key: WEEKLY.key, amount: 50_00n },
      { key: FEE.key, amount: 570_00n },
    ],
  });
});

test("external deposits are not paid out, and external withdrawals reduce the available amount", () => {
  expect(numbersOf({ held: 12_500_00n, quarantined: 500_00n, requested: 20_000_00n })).toMatchObject({
    available: 12_000_00n,
    effective: 12_000_00n,
  });
  expect(numbersOf({ held: 11_500_00n, quarantined: -500_00n, requested: 20_000_00n })).toMatchObject({
    available: 11_500_00n,
    effective: 11_500_00n,
  });
});

test("reserves of other debits and unposted losses are not available", () => {
  expect(numbersOf({ reserved: 1_000_00n, unposted: -2_000_00n })).toMatchObject({ before: 9_000_00n });
});

test("an exit takes the whole pooled amount after the fees", () => {
  expect(numbersOf({ kind: "EXIT", requested: 0n })).toMatchObject({ effective: 12_000_00n });
  expect(numbersOf({ kind: "EXIT", requested: 0n, due: [WEEKLY, FEE] })).toMatchObject({ effective: 11_350_00n });
  expect(numbersOf({ kind: "EXIT", requested: 0n, held: 0n, pooled: 0n })).toMatchObject({ effective: 0n });
});

test("the numbers are never negative and never above the request or the balance", () => {
  const amount = fc.bigInt(-1_000n, 1_000n);
  const positive = fc.bigInt(0n, 1_000n);
  const facts = fc.record({
    kind: fc.constantFrom("WITHDRAWAL" as const, "EXIT" as const),
    requested: positive,
    held: positive,
    unposted: amount,
    quarantined: amount,
    reserved: positive,
    pooled: amount,
    due: fc.array(fc.record({ key: fc.uuid(), amount: fc.bigInt(1n, 500n), isWeekly: fc.boolean() }), { maxLength: 4 }),
  });
  fc.assert(
    fc.property(facts, (input) => {
      const { numbers, reserves } = decideDeparture(input, "out");
      const { before, available, effective } = numbers;
      expect([before >= 0n, available >= 0n, effective >= 0n]).toEqual([true, true, true]);
      expect(available <= before).toBe(true);
      if (input.kind === "WITHDRAWAL") expect(effective <= input.requested && effective <= available).toBe(true);
      const reserved = reserves.reduce((total, reserve) => total + reserve.amount, 0n);
      const pooled = input.pooled > 0n ? input.pooled : 0n;
      expect(reserved <= pooled).toBe(true);
      if (input.kind === "EXIT") expect(reserved + effective).toBe(pooled);
    }),
  );
});

test("a fee of a weekly run that was debited or is reserved is not owed again, and a reserve counts once", () => {
  const other = { key: "fee:payment:3", amount: 7_00n, isWeekly: true };
  const reserves = [
    { key: WEEKLY.key, amount: 50_00n },
    { key: FEE.key, amount: 10_00n },
  ];

  const claims = openClaims({ due: [WEEKLY, FEE, other], reserves, taken: new Set([other.key]) });

  expect(claims).toEqual({ due: [FEE], reserved: 60_00n });
});
