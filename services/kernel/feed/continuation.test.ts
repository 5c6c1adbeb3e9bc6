import fc from "fast-check";
import { expect, test } from "vitest";
import { continuationOf } from "./continuation.ts";
import { anEntry } from "../testing/feed.ts";

const START = { number: 0n, id: 0n };
const at = (number: bigint) => ({ number, id: number * 10n });
const numbers = ({ entries }: ReturnType<typeof continuationOf>) => entries.map(({ number }) => number);

test("what follows the cursor is filed in order, whatever the order in which it came", () => {
  const result = continuationOf(at(2n), [anEntry(5n), anEntry(3n), anEntry(4n)]);

  expect(numbers(result)).toEqual([3n, 4n, 5n]);
  expect(result.mustRead).toBe(false);
});

test("what was filed before is dropped", () => {
  const result = continuationOf(at(2n), [anEntry(1n), anEntry(2n), anEntry(3n), anEntry(3n)]);

  expect(numbers(result)).toEqual([3n]);
  expect(result.mustRead).toBe(false);
});

test("behind a hole nothing is filed and the feed has to be read", () => {
  const result = continuationOf(at(2n), [anEntry(3n), anEntry(5n), anEntry(6n)]);

  expect(numbers(result)).toEqual([3n]);
  expect(result.mustRead).toBe(true);
});

test("an entry from another history stops the filing until the feed was read", () => {
  const sameNumber = continuationOf(at(2n), [anEntry(2n, { id: 99n }), anEntry(3n)]);
  const oldNumberOfYoungId = continuationOf(at(2n), [anEntry(1n, { id: 99n }), anEntry(3n)]);

  expect(sameNumber).toEqual({ entries: [], mustRead: true });
  expect(oldNumberOfYoungId).toEqual({ entries: [], mustRead: true });
});

test("an entry that was told first and committed last is no other history", () => {
  const cursor = { number: 2n, id: 5n };

  expect(numbers(continuationOf(cursor, [anEntry(1n, { id: 4n }), anEntry(3n, { id: 3n })]))).toEqual([3n]);
});

test("any batches in any order, filed or read, give each entry once and in order", () => {
  const LAST = 30;
  const batch = fc.array(fc.integer({ min: 1, max: LAST }), { maxLength: 12 });
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 40 }), (batches) => {
      const filed: bigint[] = [];
      let cursor = START;
      const file = (entries: readonly bigint[]): boolean => {
        const result = continuationOf(
          cursor,
          entries.map((number) => anEntry(number)),
        );
        filed.push(...numbers(result));
        cursor = at(filed.at(-1) ?? 0n);
        return result.mustRead;
      };
      for (const numbersOfBatch of batches) {
        const mustRead = file(numbersOfBatch.map(BigInt));
        if (mustRead) file([cursor.number + 1n]);
      }
      expect(filed).toEqual(filed.map((_, index) => BigInt(index + 1)));
    }),
  );
});
