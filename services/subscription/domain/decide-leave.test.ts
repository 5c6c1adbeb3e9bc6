import fc from "fast-check";
import { expect, test } from "vitest";
import { checkMaster, decideLeave, type LeaveFacts } from "./decide-leave.ts";

const FACTS: LeaveFacts = {
  kind: "WITHDRAWAL",
  requested: 5_000_00n,
  held: 12_000_00n,
  unposted: 0n,
  reserved: 0n,
  quarantined: 0n,
  pooled: 12_000_00n,
  pendingFee: 0n,
};

test("a withdrawal gets what it asks for when it is there", () => {
  expect(decideLeave(FACTS)).toEqual({
    before: 12_000_00n,
    pending: 0n,
    available: 12_000_00n,
    effective: 5_000_00n,
  });
});

test("the whole pending fee is kept back, whatever part is asked for", () => {
  expect(decideLeave({ ...FACTS, pendingFee: 600_00n, requested: 12_000_00n })).toEqual({
    before: 12_000_00n,
    pending: 600_00n,
    available: 11_400_00n,
    effective: 11_400_00n,
  });
});

test("foreign money is not paid out, and foreign withdrawals are missing", () => {
  expect(decideLeave({ ...FACTS, held: 12_500_00n, quarantined: 500_00n, requested: 20_000_00n })).toMatchObject({
    available: 12_000_00n,
    effective: 12_000_00n,
  });
  expect(decideLeave({ ...FACTS, held: 11_500_00n, quarantined: -500_00n, requested: 20_000_00n })).toMatchObject({
    available: 11_500_00n,
    effective: 11_500_00n,
  });
});

test("what is set apart for others and losses that are not posted yet are not available", () => {
  expect(decideLeave({ ...FACTS, reserved: 1_000_00n, unposted: -2_000_00n })).toMatchObject({ before: 9_000_00n });
});

test("an exit takes everything that works in the pool", () => {
  expect(decideLeave({ ...FACTS, kind: "EXIT", requested: 0n })).toMatchObject({ effective: 12_000_00n });
  expect(decideLeave({ ...FACTS, kind: "EXIT", requested: 0n, pooled: 0n })).toMatchObject({ effective: 0n });
});

test("who owes the pool cannot leave it, but may ask for what is there", () => {
  const deficit = { ...FACTS, held: 0n, pooled: -3_21n, unposted: -3_21n };
  expect(() => decideLeave({ ...deficit, kind: "EXIT" })).toThrow(
    expect.objectContaining({ code: "investor_deficit", details: { deficit: "3.21" } }),
  );
  expect(decideLeave(deficit)).toMatchObject({ before: 0n, available: 0n, effective: 0n });
});

test("the numbers are never negative, never more than asked, never more than what is there", () => {
  const amount = fc.bigInt(-1_000n, 1_000n);
  const positive = fc.bigInt(0n, 1_000n);
  fc.assert(
    fc.property(positive, amount, positive, amount, (requested, held, pendingFee, quarantined) => {
      const numbers = decideLeave({ ...FACTS, requested, held, pendingFee, quarantined });
      const { before, available, effective } = numbers;
      expect([before >= 0n, available >= 0n, effective >= 0n]).toEqual([true, true, true]);
      expect(effective <= requested && effective <= available && available <= before).toBe(true);
    }),
  );
});

test("open positions block, and are said before a log that is not complete", () => {
  expect(() => checkMaster({ isComplete: true, openPositions: 0 })).not.toThrow();
  expect(() => checkMaster({ isComplete: false, openPositions: 3 })).toThrow(
    expect.objectContaining({ code: "master_open_positions", details: { open_positions: "3" } }),
  );
  expect(() => checkMaster({ isComplete: false, openPositions: 0 })).toThrow(
    expect.objectContaining({ code: "allocation_in_progress", retryAfterMs: expect.any(Number) }),
  );
});
