import fc from "fast-check";
import { dollars } from "./engine/cents.ts";

/** Amounts in cents. `who`, `where` and `which` are taken modulo the number of Investors, Masters and positions. */
export type Step =
  | { readonly do: "deposit"; readonly who: number; readonly cents: bigint }
  | { readonly do: "withdraw"; readonly who: number; readonly cents: bigint }
  | {
      readonly do: "assign";
      readonly who: number;
      readonly where: number;
      readonly ratePpm: bigint;
      readonly enabled: boolean;
    }
  | { readonly do: "unassign"; readonly who: number }
  | { readonly do: "result"; readonly where: number; readonly cents: bigint }
  | { readonly do: "charge"; readonly where: number; readonly cents: bigint }
  | { readonly do: "open"; readonly where: number; readonly volume: bigint; readonly cents: bigint }
  | {
      readonly do: "add";
      readonly where: number;
      readonly which: number;
      readonly volume: bigint;
      readonly cents: bigint;
    }
  | { readonly do: "mark"; readonly where: number; readonly which: number; readonly cents: bigint }
  | {
      readonly do: "close";
      readonly where: number;
      readonly which: number;
      readonly volume: bigint;
      readonly cents: bigint;
    }
  | {
      readonly do: "reverse";
      readonly where: number;
      readonly which: number;
      readonly volume: bigint;
      readonly cents: bigint;
    }
  | { readonly do: "rate"; readonly who: number; readonly ratePpm: bigint; readonly since: Since }
  | { readonly do: "switch"; readonly who: number; readonly enabled: boolean }
  | { readonly do: "week" };

/** From when a rate holds: now, or so many steps before or after. */
export type Since = "now" | number;

export type History = { readonly investors: number; readonly masters: number; readonly steps: readonly Step[] };

export type HistoryShape = {
  readonly investors: number;
  readonly masters: number;
  readonly steps: number;
  readonly kinds?: readonly Step["do"][];
};

export function histories({ investors, masters, steps, kinds = ALL }: HistoryShape): fc.Arbitrary<History> {
  const chosen = Object.entries(STEPS).filter(([kind]) => kinds.includes(kind as Step["do"]));
  const single = fc.oneof(...chosen.map(([, weighted]) => weighted)).map((step) => [step]);
  const few = kinds === ALL ? fc.oneof({ weight: 30, arbitrary: single }, { weight: 1, arbitrary: emptied }) : single;
  return fc
    .tuple(fc.integer({ min: 1, max: investors }), fc.integer({ min: 1, max: masters }), beginnings(investors))
    .chain(([investorCount, masterCount, beginning]) =>
      fc.array(few, { maxLength: steps, size: "max" }).map((rest) => ({
        investors: investorCount,
        masters: masterCount,
        steps: [...beginning.slice(0, 2 * investorCount), ...rest.flat()],
      })),
    );
}

/** Each Investor deposits and is assigned to the first Master; shrinking keeps these steps. */
function beginnings(investors: number): fc.Arbitrary<Step[]> {
  const beginning = fc.tuple(positive, rate).map(([cents, ratePpm]) => ({ cents, ratePpm }));
  return fc.array(beginning, { minLength: investors, maxLength: investors }).map((all) =>
    all.flatMap(({ cents, ratePpm }, who): Step[] => [
      { do: "deposit", who, cents },
      { do: "assign", who, where: 0, ratePpm, enabled: true },
    ]),
  );
}

const cent = (min: bigint, max: bigint) => fc.bigInt({ min, max });
/** Small ones for rounding, large ones for size, and round ones for ties. */
const positive = fc.oneof(
  { weight: 3, arbitrary: cent(1n, 500_000_00n) },
  { weight: 1, arbitrary: cent(1n, 300n) },
  { weight: 2, arbitrary: cent(1n, 20n).map((hundreds) => hundreds * 100_00n) },
);
const signed = fc.tuple(positive, fc.boolean()).map(([cents, isLoss]) => (isLoss ? -cents / 3n : cents / 2n));
/** More than any Investor has. */
const EVERYTHING = 99_000_000_00n;
const rate = fc.oneof(fc.constantFrom(0n, 200_000n, 275_000n, 300_000n, 333_333n, 1_000_000n), cent(0n, 1_000_000n));
const index = fc.nat({ max: 11 });
const volume = cent(1n, 6n);
const moment = fc.oneof(fc.constant("now" as const), fc.integer({ min: -12, max: 8 }));

function weighted<T extends Step>(weight: number, parts: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return { weight, arbitrary: fc.record(parts) as unknown as fc.Arbitrary<Step> };
}

const is = <T extends string>(kind: T) => fc.constant(kind);

const STEPS = {
  deposit: weighted(6, { do: is("deposit"), who: index, cents: positive }),
  withdraw: weighted(7, { do: is("withdraw"), who: index, cents: fc.oneof(positive, fc.constant(EVERYTHING)) }),
  assign: weighted(4, { do: is("assign"), who: index, where: index, ratePpm: rate, enabled: fc.boolean() }),
  unassign: weighted(3, { do: is("unassign"), who: index }),
  result: weighted(9, { do: is("result"), where: index, cents: signed }),
  charge: weighted(2, { do: is("charge"), where: index, cents: signed }),
  open: weighted(8, { do: is("open"), where: index, volume, cents: fc.constantFrom(0n, 0n, -7n, -250n) }),
  add: weighted(1, { do: is("add"), where: index, which: index, volume, cents: fc.constantFrom(0n, -7n) }),
  mark: weighted(6, { do: is("mark"), where: index, which: index, cents: signed }),
  close: weighted(10, { do: is("close"), where: index, which: index, volume, cents: signed }),
  reverse: weighted(1, { do: is("reverse"), where: index, which: index, volume, cents: signed }),
  rate: weighted(3, { do: is("rate"), who: index, ratePpm: rate, since: moment }),
  switch: weighted(5, { do: is("switch"), who: index, enabled: fc.boolean() }),
  week: weighted(5, { do: is("week") }),
} as const;

const ALL = Object.keys(STEPS) as Step["do"][];

/** An Investor that withdraws everything while fees are disabled owes the fee afterwards. */
const emptied = fc
  .tuple(index, positive)
  .map(([who, cents]): Step[] => [
    { do: "result", where: who, cents },
    { do: "switch", who, enabled: false },
    { do: "withdraw", who, cents: EVERYTHING },
    { do: "switch", who, enabled: true },
    { do: "week" },
    { do: "deposit", who, cents: cents / 9n + 1n },
    { do: "week" },
  ]);

/** A step as a sentence. */
export function describeStep(step: Step, { investors, masters }: Pick<History, "investors" | "masters">): string {
  const who = "who" in step ? `I${(step.who % investors) + 1}` : "";
  const where = "where" in step ? `M${(step.where % masters) + 1}` : "";
  switch (step.do) {
    case "deposit":
      return `${who} deposits ${dollars(step.cents)}`;
    case "withdraw":
      return `${who} wants to withdraw ${dollars(step.cents)}`;
    case "assign":
      return `${who} is assigned to ${where}, ${step.enabled ? "at" : "later at"} ${percent(step.ratePpm)}`;
    case "unassign":
      return `${who} is unassigned`;
    case "result":
      return `${where} opens and closes with ${dollars(step.cents)}`;
    case "charge":
      return `${where} is charged or paid ${dollars(step.cents)} without a trade`;
    case "open":
      return `${where} opens ${step.volume} lots, commission ${dollars(step.cents)}`;
    case "add":
      return `${where} adds ${step.volume} lots to position ${step.which}, commission ${dollars(step.cents)}`;
    case "mark":
      return `position ${step.which} of ${where} floats at ${dollars(step.cents)}`;
    case "close":
      return `${where} closes ${step.volume} lots of position ${step.which}, ${dollars(step.cents)} beside its mark`;
    case "reverse":
      return `${where} reverses position ${step.which} into ${step.volume} lots, with ${dollars(step.cents)}`;
    case "rate":
      return `the rate of ${who} is ${percent(step.ratePpm)} from ${step.since === "now" ? "now" : `step ${step.since}`}`;
    case "switch":
      return `fees of ${who} are switched ${step.enabled ? "on" : "off"}`;
    case "week":
      return "the week ends";
  }
}

function percent(ppm: bigint): string {
  return `${Number(ppm) / 10_000} %`;
}
