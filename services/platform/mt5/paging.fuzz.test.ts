import fc from "fast-check";
import { expect, test } from "vitest";
import { FUZZ_TIMEOUT_MS, fuzzAsync } from "#test/fuzz/support/fuzz.ts";
import { Mt5Error } from "./errors.ts";
import { PAGE_ROWS, readWhole } from "./paging.ts";

/** A change of the list, or a wrong answer about it, at one of the calls. */
type Event =
  | { readonly kind: "comes" | "goes"; readonly at: number }
  | { readonly kind: "repeats" | "leaves out"; readonly at: number }
  | { readonly kind: "miscounts"; readonly by: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constantFrom("comes", "goes", "comes", "goes"), at: fc.nat(400) }),
  fc.record({ kind: fc.constantFrom("repeats", "leaves out"), at: fc.nat(400) }),
  fc.record({ kind: fc.constant("miscounts" as const), by: fc.integer({ min: -3, max: 3 }) }),
);
/** One row is removed in front and one is added behind, so that the total is unchanged and the rows between them move. */
const exchange: fc.Arbitrary<Event[]> = fc.tuple(fc.nat(50), fc.nat(400)).map(([front, back]) => [
  { kind: "goes", at: front },
  { kind: "comes", at: back },
]);
const scenario = fc.record({
  rows: fc.oneof(fc.nat(5), fc.integer({ min: 95, max: 105 }), fc.integer({ min: 150, max: 350 })),
  /** By the number of the call. Later calls are answered correctly. */
  events: fc.array(
    fc.oneof({ weight: 3, arbitrary: fc.array(event, { maxLength: 2 }) }, { weight: 1, arbitrary: exchange }),
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
      const seen = new Set(read);
      if (!isSeamless(events.flat())) expect(list.always().filter((row) => !seen.has(row))).toEqual([]);
      expect(read.filter((row) => !list.ever().has(row))).toEqual([]);
    });
  },
  FUZZ_TIMEOUT_MS,
);

/** A row that is left out while the total agrees, by a wrong answer or another row: no reader can detect that. */
function isSeamless(events: readonly Event[]): boolean {
  const has = (kind: Event["kind"]): boolean => events.some((one) => one.kind === kind);
  return has("miscounts") || (has("leaves out") && has("comes"));
}

/** Rows are added and removed anywhere; all other rows keep their order. */
function aList(count: number, events: readonly (readonly Event[])[]) {
  const rows = Array.from({ length: count }, (_, index) => BigInt(index));
  const ever = new Set(rows);
  const gone = new Set<bigint>();
  const late = new Set<bigint>();
  let calls = 0;
  const next = (): readonly Event[] => {
    const now = events[calls] ?? [];
    calls += 1;
    for (const { kind, ...own } of now) {
      const at = "at" in own ? own.at % (rows.length + 1) : 0;
      if (kind === "goes") for (const row of rows.splice(at, 1)) gone.add(row);
      if (kind !== "comes") continue;
      const row = BigInt(ever.size);
      rows.splice(at, 0, row);
      ever.add(row);
      late.add(row);
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
        if (one.kind === "leaves out") page.splice(one.at % (page.length + 1), 1);
        if (one.kind === "repeats" && page.length > 0) {
          page.splice(one.at % page.length, 0, page[one.at % page.length]!);
        }
      }
      return page;
    },
    idOf: (row: bigint) => row,
    ever: () => ever,
    always: () => Array.from(ever).filter((row) => !gone.has(row) && !late.has(row)),
  };
}
