import fc from "fast-check";
import { expect, test } from "vitest";
import { FUZZ_TIMEOUT_MS, fuzzAsync } from "#test/fuzz/support/fuzz.ts";
import { Mt5Error } from "./errors.ts";
import { PAGE_ROWS, readWhole } from "./lists.ts";

/** A change of the list, or a wrong answer about the list, during one of the calls. */
type Event =
  | { readonly kind: "added" | "removed"; readonly at: number }
  | { readonly kind: "repeats" | "omits"; readonly at: number }
  | { readonly kind: "miscounts"; readonly by: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constantFrom("added", "removed", "added", "removed"), at: fc.nat(400) }),
  fc.record({ kind: fc.constantFrom("repeats", "omits"), at: fc.nat(400) }),
  fc.record({ kind: fc.constant("miscounts" as const), by: fc.integer({ min: -3, max: 3 }) }),
);
/** One row is removed at the front and one is added behind it, so that the total is unchanged and the rows between them move. */
const replacement: fc.Arbitrary<Event[]> = fc.tuple(fc.nat(50), fc.nat(400)).map(([front, back]) => [
  { kind: "removed", at: front },
  { kind: "added", at: back },
]);
const scenario = fc.record({
  rows: fc.oneof(fc.nat(5), fc.integer({ min: 95, max: 105 }), fc.integer({ min: 150, max: 350 })),
  /** The events of each call, in order. Later calls are answered correctly. */
  events: fc.array(
    fc.oneof({ weight: 3, arbitrary: fc.array(event, { maxLength: 2 }) }, { weight: 1, arbitrary: replacement }),
    {
      maxLength: 8,
    },
  ),
});

test(
  "a row that exists during the whole read is never missing, whatever changes between two pages",
  async () => {
    await fuzzAsync("lists that change while they are read", 2_000, scenario, async ({ rows: count, events }) => {
      const list = aList(count, events);
      const read = await readWhole(list).catch((error: unknown) => {
        if (error instanceof Mt5Error && error.problem === "incomplete") return undefined;
        throw error;
      });
      if (read === undefined) return;
      expect(new Set(read).size).toBe(read.length);
      const found = new Set(read);
      if (!isUndetectable(events.flat())) expect(list.always().filter((row) => !found.has(row))).toEqual([]);
      expect(read.filter((row) => !list.ever().has(row))).toEqual([]);
    });
  },
  FUZZ_TIMEOUT_MS,
);

const numbers = (count: number) => Array.from({ length: count }, (_, index) => BigInt(index));

test("lists of any length are read completely, also when a row is added meanwhile", async () => {
  for (const count of [0, 1, 99, 100, 101, 250, 1_000]) {
    expect(await readWhole(aList(count))).toEqual(numbers(count));
  }
  expect(await readWhole(aList(150, [[], [{ kind: "added", at: 150 }]]))).toEqual(numbers(151));
});

test("a list that keeps changing, or has fewer rows than its total, is an error and never a shorter list", async () => {
  const changing = aList(150, Array(30).fill([{ kind: "added", at: 0 }]));
  const tooShort = [5, 0].map((count) => ({ ...aList(count), total: () => Promise.resolve(count + 1) }));
  for (const list of [changing, ...tooShort]) {
    await expect(readWhole(list)).rejects.toMatchObject({ problem: "incomplete" });
  }
});

/** A row is omitted while the total matches because of a wrong total or an added row: no reader can detect that. */
function isUndetectable(events: readonly Event[]): boolean {
  const has = (kind: Event["kind"]): boolean => events.some((one) => one.kind === kind);
  return has("miscounts") || (has("omits") && has("added"));
}

/** Rows are added and removed anywhere; all other rows keep their order. */
function aList(count: number, events: readonly (readonly Event[])[] = []) {
  const rows = numbers(count);
  const ever = new Set(rows);
  const removed = new Set<bigint>();
  const added = new Set<bigint>();
  let calls = 0;
  const next = (): readonly Event[] => {
    const now = events[calls] ?? [];
    calls += 1;
    for (const { kind, ...own } of now) {
      const at = "at" in own ? own.at % (rows.length + 1) : 0;
      if (kind === "removed") for (const row of rows.splice(at, 1)) removed.add(row);
      if (kind !== "added") continue;
      const row = BigInt(ever.size);
      rows.splice(at, 0, row);
      ever.add(row);
      added.add(row);
    }
    return now;
  };
  return {
    what: "rows",
    total: async () => next().reduce((total, one) => total + (one.kind === "miscounts" ? one.by : 0), rows.length),
    async page(offset: number) {
      const now = next();
      const page = rows.slice(offset, offset + PAGE_ROWS);
      for (const one of now) {
        if (one.kind === "omits") page.splice(one.at % (page.length + 1), 1);
        if (one.kind === "repeats" && page.length > 0) {
          page.splice(one.at % page.length, 0, page[one.at % page.length]!);
        }
      }
      return page;
    },
    idOf: (row: bigint) => row,
    ever: () => ever,
    always: () => Array.from(ever).filter((row) => !removed.has(row) && !added.has(row)),
  };
}
