import fc from "fast-check";
import { expect, test } from "vitest";
import { crystallise } from "./crystallise.ts";
import { earn, type Earnings, NOTHING_EARNED, sumOf } from "./layers.ts";
import { E8_PER_CENT } from "../pool/unit-pool.ts";

const RATE_PPM = 275_000;
const at = (hour: number): Date => new Date(Date.UTC(2026, 0, 5, hour));

type Event = { result: bigint } | { floating: bigint };

const result = fc.bigInt(-500_000n, 500_000n);
const anEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ result }) },
  { weight: 1, arbitrary: fc.record({ floating: fc.bigInt(-50_000_000_000n, 50_000_000_000n) }) },
);
const history = fc.array(anEvent, { maxLength: 40 });

type Replayed = { states: Earnings[]; fees: bigint[] };

function replay(events: readonly Event[], ratePpm = RATE_PPM): Replayed {
  let now = NOTHING_EARNED;
  const replayed: Replayed = { states: [now], fees: [] };
  for (const [hour, event] of events.entries()) {
    if ("result" in event) now = earn(now, [{ amount: event.result, earnedAt: at(hour) }]);
    else {
      const decided = crystallise(now, { floating: event.floating, rateAt: () => ratePpm });
      now = decided.after;
      replayed.fees.push(decided.fee);
    }
    replayed.states.push(now);
  }
  return replayed;
}

function pending(earnings: Earnings): bigint {
  return crystallise(earnings, { floating: 0n, rateAt: () => RATE_PPM }).fee;
}

test("the sum of the layers is the amount earned above the mark", () => {
  fc.assert(
    fc.property(history, (events) => {
      for (const { earned, mark, layers } of replay(events).states) {
        const above = earned * E8_PER_CENT - mark;
        expect(sumOf(layers)).toBe(above > 0n ? above : 0n);
        expect(layers.every(({ amount }) => amount > 0n)).toBe(true);
      }
    }),
  );
});

test("the mark never decreases", () => {
  fc.assert(
    fc.property(history, (events) => {
      const marks = replay(events).states.map(({ mark }) => mark);
      for (const [index, mark] of marks.entries()) expect(mark >= (marks[index - 1] ?? 0n)).toBe(true);
    }),
  );
});

test("splitting a result into parts with the same sign and instant never changes the fee", () => {
  const parts = fc.array(fc.bigInt(1n, 100_000n), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(history, parts, fc.boolean(), (events, amounts, isLoss) => {
      const before = replay(events).states.at(-1)!;
      const signed = amounts.map((amount) => (isLoss ? -amount : amount));
      const whole = earn(before, [{ amount: signed.reduce((sum, amount) => sum + amount, 0n), earnedAt: at(99) }]);
      const split = earn(
        before,
        signed.map((amount) => ({ amount, earnedAt: at(99) })),
      );
      expect(split).toEqual(whole);
      expect(pending(split)).toBe(pending(whole));
    }),
  );
});

test("an open loss never raises a fee, and no fee is above the profit", () => {
  fc.assert(
    fc.property(history, fc.bigInt(0n, 10n ** 12n), (events, loss) => {
      const now = replay(events).states.at(-1)!;
      const lowered = crystallise(now, { floating: -loss, rateAt: () => RATE_PPM }).fee;
      expect(lowered <= pending(now)).toBe(true);
      expect(pending(now) * E8_PER_CENT <= sumOf(now.layers)).toBe(true);
    }),
  );
});

test("profits that no change of the rate separates are one layer, and no fee differs", () => {
  const changes = fc.uniqueArray(fc.nat(39), { maxLength: 4 });
  fc.assert(
    fc.property(history, changes, (events, hours) => {
      const changedIn = (from: Date, to: Date) => hours.some((hour) => at(hour) > from && at(hour) <= to);
      const rateAt = (when: Date) => 100_000 * hours.filter((hour) => at(hour) <= when).length;
      let single = NOTHING_EARNED;
      let merged = NOTHING_EARNED;
      for (const [hour, event] of events.entries()) {
        if ("result" in event) {
          const parts = [{ amount: event.result, earnedAt: at(hour) }];
          single = earn(single, parts);
          merged = earn(merged, parts, changedIn);
        } else {
          const [exact, shown] = [single, merged].map((own) => crystallise(own, { ...event, rateAt }));
          expect(shown?.exact).toBe(exact?.exact);
          single = exact!.after;
          merged = shown!.after;
        }
        expect({ ...merged, layers: [] }).toEqual({ ...single, layers: [] });
        expect(merged.layers.length).toBeLessThanOrEqual(hours.length + 1);
        expect(sumOf(merged.layers)).toBe(sumOf(single.layers));
      }
    }),
  );
});
