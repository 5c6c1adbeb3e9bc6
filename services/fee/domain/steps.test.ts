import fc from "fast-check";
import { expect, test } from "vitest";
import { aVersion, rateAt } from "../testing/a-version.ts";
import { inForceAt, isCollectedAt, isEnabledAt, stepsOf, type Version } from "./timeline.ts";

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const DAYS = 12;

/** In the sequence in which they begin; starts of any sequence, of which several may be the same. */
const timelines: fc.Arbitrary<readonly Version[]> = fc
  .array(
    fc.record({
      start: fc.integer({ min: 1, max: DAYS }),
      delay: fc.integer({ min: 0, max: 4 }),
      ratePpm: fc.integer({ min: 0, max: 3 }),
      enabled: fc.boolean(),
    }),
    { maxLength: 8 },
  )
  .map((drawn) =>
    drawn.map(({ start, delay, ratePpm, enabled }, index) => {
      const switched = { enabled, enabledFrom: day(start + delay) };
      return aVersion(day(start), { id: BigInt(index + 1), ratePpm, ...switched });
    }),
  );

test("the steps say of each instant what the timeline says of it", () => {
  fc.assert(
    fc.property(timelines, (versions) => {
      const steps = stepsOf(versions);
      for (let number = 0; number <= DAYS + 5; number += 1) {
        const at = day(number);
        const step = steps.findLast(({ from }) => from === undefined || from <= at);
        const said = { rate: rateAt(versions, at), enabled: isEnabledAt(versions, at) };
        expect({ rate: step?.ratePpm ?? 0, enabled: isCollectedAt(steps, at) }).toEqual(said);
        expect(step?.versionId ?? 0n).toBe(inForceAt(versions, at)?.id ?? 0n);
      }
    }),
  );
});

test("a step begins where the rate or the switch may change, once each and in sequence", () => {
  fc.assert(
    fc.property(timelines, (versions) => {
      const begin = stepsOf(versions).map(({ from }) => from?.getTime());
      const rates = startsOf(versions.map(({ effectiveSince }) => effectiveSince.getTime()));
      const switches = startsOf(versions.map(({ enabledFrom }) => enabledFrom.getTime()));
      const starts = [...new Set([...rates, ...switches])].toSorted((a, b) => a - b);
      expect(begin).toEqual(versions.length === 0 ? [] : [undefined, ...starts]);
    }),
  );
});

/** Those that no newer one hides. */
function startsOf(starts: readonly number[]): number[] {
  return starts.filter((start, index) => starts.slice(index + 1).every((later) => later > start));
}

test("twice as many versions are twice as much work", () => {
  const readsOf = (count: number) => {
    let reads = 0;
    const versions = Array.from({ length: count }, (_, index) => {
      const version = aVersion(day(index), { id: BigInt(index + 1), enabledFrom: day(index + 2) });
      return new Proxy(version, {
        get: (target, name, receiver) => {
          reads += 1;
          return Reflect.get(target, name, receiver) as unknown;
        },
      });
    });
    expect(stepsOf(versions)).toHaveLength(count + 3);
    return reads;
  };
  expect(readsOf(1_000)).toBeLessThan(20 * 1_000);
  expect(readsOf(2_000) / readsOf(1_000)).toBeLessThan(2.1);
});
