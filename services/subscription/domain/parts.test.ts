import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_AMOUNT } from "#kernel/values/money.ts";
import { inParts, takeWhatFits } from "./parts.ts";

const anAmount = fc.bigInt(-5n * MAX_AMOUNT.minor, 5n * MAX_AMOUNT.minor);

function magnitude(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

test("parts sum to the amount, keep its sign, and each fits into one transfer", () => {
  fc.assert(
    fc.property(anAmount, (amount) => {
      const parts = inParts(amount);
      expect(parts.reduce((total, part) => total + part, 0n)).toBe(amount);
      for (const part of parts) {
        expect(part !== 0n && magnitude(part) <= MAX_AMOUNT.minor && part > 0n === amount > 0n).toBe(true);
      }
    }),
  );
});

test("an amount up to the maximum is one part, and 0 has no parts", () => {
  expect(inParts(-MAX_AMOUNT.minor)).toEqual([-MAX_AMOUNT.minor]);
  expect(inParts(MAX_AMOUNT.minor + 1n)).toEqual([MAX_AMOUNT.minor, 1n]);
  expect(inParts(0n)).toEqual([]);
});

test("flows are taken in order while their net fits into one transfer, at least one", () => {
  const part = fc.bigInt(-MAX_AMOUNT.minor, MAX_AMOUNT.minor);
  fc.assert(
    fc.property(fc.array(part, { minLength: 1 }), (amounts) => {
      const flows = amounts.map((amount) => ({ amount }));
      const taken = takeWhatFits(flows);
      expect(taken).toEqual(flows.slice(0, taken.length));
      expect(taken.length).toBeGreaterThan(0);
      expect(magnitude(taken.reduce((net, { amount }) => net + amount, 0n)) <= MAX_AMOUNT.minor).toBe(true);
    }),
  );
});
