import fc from "fast-check";
import { dollars } from "./engine/cents.ts";

type Drawn<Parts> = { readonly [Name in keyof Parts]: Parts[Name] extends fc.Arbitrary<infer Value> ? Value : never };
type Kinds = typeof STEPS;

/** Amounts in cents. Indexes are taken modulo the number of Investors, Masters and positions. */
export type Step =
  | { readonly [Kind in keyof Kinds]: { readonly kind: Kind } & Drawn<Kinds[Kind][1]> }[keyof Kinds]
  /** The Master loses its balance and some cents more, without a trade. */
  | { readonly kind: "gap"; readonly masterIndex: number; readonly cents: bigint };

/** The start of a rate: now, the stored start, or the number of steps after now; negative for earlier steps. */
export type Since = "now" | "stored" | number;

export type History = { readonly investors: number; readonly masters: number; readonly steps: readonly Step[] };

export type HistoryShape = {
  readonly investors: number;
  readonly masters: number;
  readonly steps: number;
  readonly kinds?: readonly Step["kind"][];
  /** Steps that say something only one after the other. */
  readonly sequences?: readonly ("emptied" | "stoppedOut" | "overdrawn" | "repaired" | "archived")[];
};

export function histories({
  investors,
  masters,
  steps,
  kinds = ALL,
  sequences = [],
}: HistoryShape): fc.Arbitrary<History> {
  const chosen = EVERY.filter((kind) => kinds.includes(kind));
  const single = fc.oneof(...chosen.map(weighted)).map((step) => [step]);
  const some = sequences.map((name) => ({ weight: 1, arbitrary: SEQUENCES[name] }));
  const few = some.length === 0 ? single : fc.oneof({ weight: 40, arbitrary: single }, ...some);
  return fc
    .tuple(
      fc.integer({ min: 1, max: investors }),
      fc.integer({ min: 1, max: masters }),
      kinds.includes("dealer") ? registrations : fc.constant<Step[]>([]),
      beginnings(investors),
    )
    .chain(([investorCount, masterCount, registration, beginning]) =>
      fc.array(few, { maxLength: steps, size: "max" }).map((rest) => ({
        investors: investorCount,
        masters: masterCount,
        steps: [...registration, ...beginning.slice(0, 2 * investorCount), ...rest.flat()],
      })),
    );
}

/** Histories that end a week after every few steps, so that a year of fees has about as many weeks as in reality. */
export function weeklyHistories(shape: HistoryShape & { readonly weeks: number }): fc.Arbitrary<History> {
  const { investors, masters, steps, weeks } = shape;
  const single = fc.oneof(...ALL.map(weighted));
  const week = fc
    .array(single, { minLength: steps, maxLength: steps })
    .map((days): Step[] => [...days, { kind: "week" }]);
  return fc
    .tuple(beginnings(investors), fc.array(week, { minLength: weeks, maxLength: weeks, size: "max" }))
    .map(([beginning, rest]) => ({ investors, masters, steps: [...beginning, ...rest.flat()] }));
}

/** Each Investor deposits and is assigned to the first Master; a reduced history keeps these steps. */
function beginnings(investors: number): fc.Arbitrary<Step[]> {
  const beginning = fc.tuple(positive, rate).map(([cents, ratePpm]) => ({ cents, ratePpm }));
  return fc.array(beginning, { minLength: investors, maxLength: investors }).map((all) =>
    all.flatMap(({ cents, ratePpm }, investorIndex): Step[] => [
      { kind: "deposit", investorIndex, cents },
      { kind: "assign", investorIndex, masterIndex: 0, ratePpm, enabled: true },
    ]),
  );
}

const cent = (min: bigint, max: bigint) => fc.bigInt({ min, max });
/** Small amounts for rounding, large amounts for size, and round amounts for equal remainders. */
const positive = fc.oneof(
  { weight: 3, arbitrary: cent(1n, 500_000_00n) },
  { weight: 1, arbitrary: cent(1n, 300n) },
  { weight: 2, arbitrary: cent(1n, 20n).map((hundreds) => hundreds * 100_00n) },
);
const signed = fc.tuple(positive, fc.boolean()).map(([cents, isLoss]) => (isLoss ? -cents / 3n : cents / 2n));
/** What the platform pays beyond a balance below zero: mostly nothing. */
const beyondTheHole = fc.oneof({ weight: 3, arbitrary: fc.constant(0n) }, positive, cent(-1_000_00n, -1n));
/** Of the open positions. */
const LATEST = -1;
/** More than any Investor has. */
export const EVERYTHING = 99_000_000_00n;
const orEverything = fc.oneof(positive, fc.constant(EVERYTHING));
const OPENING_COMMISSIONS: readonly bigint[] = [0n, 0n, -7n, -250n];
const ADDING_COMMISSIONS: readonly bigint[] = [0n, -7n];
const QUEUED = ["withdraw", "withdraw", "unassign"] as const;
const taken = positive.map((cents) => -cents);
const mostlySigned = fc.oneof({ weight: 9, arbitrary: signed }, { weight: 1, arbitrary: taken });
const rate = fc.oneof(fc.constantFrom(0n, 200_000n, 275_000n, 300_000n, 333_333n, 1_000_000n), cent(0n, 1_000_000n));
const index = fc.nat({ max: 11 });
const volume = cent(1n, 6n);
const moment = fc.oneof(fc.constant("now" as const), fc.integer({ min: -12, max: 8 }));

/** The first Master may have been registered with a balance, and with an open position. */
const registrations = fc
  .tuple(fc.constantFrom("new", "with a balance", "with a position"), positive, signed)
  .map(([kind, balance, floating]): Step[] => {
    const registered: Step = { kind: "dealer", masterIndex: 0, cents: balance };
    if (kind === "new") return [];
    if (kind === "with a balance") return [registered];
    return [
      { kind: "open", masterIndex: 0, volume: 3n, cents: 0n },
      { kind: "mark", masterIndex: 0, positionIndex: 0, cents: floating },
      registered,
    ];
  });

/** How often each kind of step occurs beside the others, and what is drawn for it. */
const STEPS = {
  deposit: [6, { investorIndex: index, cents: positive }],
  withdraw: [7, { investorIndex: index, cents: orEverything }],
  assign: [4, { investorIndex: index, masterIndex: index, ratePpm: rate, enabled: fc.boolean() }],
  unassign: [3, { investorIndex: index }],
  result: [9, { masterIndex: index, cents: signed }],
  charge: [2, { masterIndex: index, cents: signed }],
  open: [8, { masterIndex: index, volume, cents: fc.constantFrom(...OPENING_COMMISSIONS) }],
  add: [1, { masterIndex: index, positionIndex: index, volume, cents: fc.constantFrom(...ADDING_COMMISSIONS) }],
  mark: [6, { masterIndex: index, positionIndex: index, cents: signed }],
  close: [10, { masterIndex: index, positionIndex: index, volume, cents: signed }],
  reverse: [1, { masterIndex: index, positionIndex: index, volume, cents: signed }],
  rate: [3, { investorIndex: index, ratePpm: rate, since: moment }],
  version: [
    9,
    {
      investorIndex: index,
      ratePpm: fc.option(rate, { nil: undefined }),
      enabled: fc.option(fc.boolean(), { nil: undefined }),
      since: fc.oneof(fc.constantFrom("now" as const, "stored" as const), fc.integer({ min: -8, max: 12 })),
    },
  ],
  cancel: [3, { investorIndex: index }],
  switch: [5, { investorIndex: index, enabled: fc.boolean() }],
  dealer: [4, { masterIndex: index, cents: mostlySigned }],
  acknowledge: [1, { masterIndex: index }],
  /** What dealers have moved is a result: of now, or one that repairs an earlier one. */
  repair: [3, { masterIndex: index, resultIndex: fc.option(fc.nat({ max: 5 }), { nil: undefined }) }],
  agent: [1, { masterIndex: index, cents: positive.map((cents) => cents / 10n + 1n) }],
  /** The platform raises a balance below zero to zero, and pays so much more or less. */
  protect: [3, { masterIndex: index, cents: beyondTheHole }],
  /** The session of a position closes, so that its price grows old. */
  stale: [1, { masterIndex: index, positionIndex: index }],
  /** The broker charges an Investor, by a rule that adopts it. */
  levy: [1, { investorIndex: index, cents: cent(1n, 50_00n) }],
  archive: [1, { investorIndex: index }],
  restore: [1, { investorIndex: index }],
  compensate: [1, { masterIndex: index }],
  /** It waits until the Master is flat, which closes its positions then. */
  queued: [5, { investorIndex: index, command: fc.constantFrom(...QUEUED), cents: orEverything }],
  week: [5, {}],
} as const;

const EVERY = Object.keys(STEPS) as (keyof Kinds)[];

function weighted(kind: keyof Kinds) {
  const [weight, parts]: readonly [number, Readonly<Record<string, fc.Arbitrary<unknown>>>] = STEPS[kind];
  return { weight, arbitrary: fc.record({ kind: fc.constant(kind), ...parts }) as unknown as fc.Arbitrary<Step> };
}

/**
 * Steps that only histories have which ask for them: many versions of fees leave little else, the reference knows no queue, and of a pool that
 * has lost everything rounding makes what it is worth.
 */
const ASKED_FOR: readonly Step["kind"][] = ["version", "cancel", "queued", "protect"];
const ALL = EVERY.filter((kind) => !ASKED_FOR.includes(kind));

/** An Investor that withdraws everything while fees are disabled owes the fee afterwards. */
const emptied = fc
  .tuple(index, positive)
  .map(([investorIndex, cents]): Step[] => [
    { kind: "result", masterIndex: investorIndex, cents },
    { kind: "switch", investorIndex, enabled: false },
    { kind: "withdraw", investorIndex, cents: EVERYTHING },
    { kind: "switch", investorIndex, enabled: true },
    { kind: "week" },
    { kind: "deposit", investorIndex, cents: cents / 9n + 1n },
    { kind: "week" },
  ]);

/** The Master loses more than it has; deposits wait until the platform has paid for that. */
const stoppedOut = fc
  .tuple(index, index, positive, beyondTheHole)
  .map(([masterIndex, investorIndex, deposited, more]): Step[] => [
    { kind: "result", masterIndex, cents: -EVERYTHING },
    { kind: "deposit", investorIndex, cents: deposited },
    { kind: "withdraw", investorIndex, cents: deposited / 3n + 1n },
    { kind: "protect", masterIndex, cents: more },
    { kind: "deposit", investorIndex: investorIndex + 1, cents: deposited },
  ]);

/** Fees are taken while there is no price, and perhaps money by a dealer, and a loss leaves less than that; the platform pays, and then the price comes. */
const overdrawn = fc
  .tuple(index, index, positive, cent(5n, 40n), fc.boolean(), beyondTheHole, signed)
  .map(([masterIndex, investorIndex, profit, part, isDealer, more, floating]): Step[] => [
    { kind: "open", masterIndex, volume: 1n, cents: 0n },
    { kind: "result", masterIndex, cents: profit },
    { kind: "stale", masterIndex, positionIndex: LATEST },
    { kind: "week" },
    ...(isDealer ? [{ kind: "dealer", masterIndex, cents: -profit } as const] : []),
    { kind: "gap", masterIndex, cents: profit / part },
    { kind: "protect", masterIndex, cents: more },
    { kind: "mark", masterIndex, positionIndex: LATEST, cents: floating },
    { kind: "close", masterIndex, positionIndex: LATEST, volume: 1n, cents: 0n },
    { kind: "withdraw", investorIndex, cents: EVERYTHING },
    { kind: "deposit", investorIndex, cents: profit },
  ]);

/** A dealer gives back what a wrong price has cost, or takes back what it has brought. */
const repaired = fc
  .tuple(index, signed, index, fc.boolean(), fc.constantFrom(undefined, 0, 0))
  .map(([masterIndex, cents, investorIndex, hasLeft, resultIndex]): Step[] => [
    { kind: "result", masterIndex, cents },
    ...(hasLeft ? [{ kind: "unassign", investorIndex } as const] : []),
    { kind: "dealer", masterIndex, cents: -cents },
    { kind: "repair", masterIndex, resultIndex },
  ]);

const archived = fc.tuple(index, index, signed).map(([investorIndex, masterIndex, cents]): Step[] => [
  { kind: "withdraw", investorIndex, cents: EVERYTHING },
  { kind: "archive", investorIndex },
  { kind: "result", masterIndex, cents },
  { kind: "deposit", investorIndex, cents: 1n },
  { kind: "restore", investorIndex },
]);

const SEQUENCES = { emptied, stoppedOut, overdrawn, repaired, archived };

/** A step as a sentence. */
export function describeStep(step: Step, { investors, masters }: Pick<History, "investors" | "masters">): string {
  const investor = "investorIndex" in step ? `I${(step.investorIndex % investors) + 1}` : "";
  const master = "masterIndex" in step ? `M${(step.masterIndex % masters) + 1}` : "";
  switch (step.kind) {
    case "deposit":
      return `${investor} deposits ${dollars(step.cents)}`;
    case "withdraw":
      return `${investor} wants to withdraw ${dollars(step.cents)}`;
    case "assign":
      return `${investor} is assigned to ${master}, ${step.enabled ? "at" : "later at"} ${percent(step.ratePpm)}`;
    case "unassign":
      return `${investor} is unassigned`;
    case "result":
      return `${master} opens and closes with ${dollars(step.cents)}`;
    case "charge":
      return `${master} is charged or paid ${dollars(step.cents)} without a trade`;
    case "dealer":
      return `a dealer moves ${dollars(step.cents)} on ${master}`;
    case "acknowledge":
      return `operators acknowledge the own capital of ${master}`;
    case "compensate":
      return `operators compensate the Investors of ${master}`;
    case "open":
      return `${master} opens ${step.volume} lots, commission ${dollars(step.cents)}`;
    case "add":
      return `${master} adds ${step.volume} lots to position ${step.positionIndex}, commission ${dollars(step.cents)}`;
    case "mark":
      return `position ${step.positionIndex} of ${master} has a floating result of ${dollars(step.cents)}`;
    case "close":
      return `${master} closes ${step.volume} lots of position ${step.positionIndex}, ${dollars(step.cents)} more than its floating result`;
    case "reverse":
      return `${master} reverses position ${step.positionIndex} into ${step.volume} lots, with ${dollars(step.cents)}`;
    case "rate":
      return `the rate of ${investor} is ${percent(step.ratePpm)} from ${startText(step.since)}`;
    case "version":
      return `the fee of ${investor} is ${step.ratePpm === undefined ? "as before" : percent(step.ratePpm)}, ${switchText(step.enabled)}, from ${startText(step.since)}`;
    case "cancel":
      return `the scheduled rate of ${investor} is cancelled`;
    case "switch":
      return `fees of ${investor} are switched ${step.enabled ? "on" : "off"}`;
    case "queued":
      return `${investor} lets ${step.command === "unassign" ? "its unassign" : `a withdrawal of ${dollars(step.cents)}`} wait until its Master is flat`;
    case "repair": {
      const named = step.resultIndex === undefined ? "now" : `that repairs result ${step.resultIndex}, counted back`;
      return `what dealers have moved on ${master} is a result ${named}`;
    }
    case "agent":
      return `${master} earns ${dollars(step.cents)} as an agent`;
    case "protect":
      return `the platform raises a balance of ${master} below zero, with ${dollars(step.cents)}`;
    case "gap":
      return `${master} loses its balance and ${dollars(step.cents)} more`;
    case "stale":
      return `the price of position ${step.positionIndex} of ${master} grows old`;
    case "levy":
      return `the broker charges ${investor} ${dollars(step.cents)}`;
    case "archive":
      return `${investor} is archived`;
    case "restore":
      return `${investor} is back`;
    case "week":
      return "the week ends";
  }
}

function startText(since: Since): string {
  return typeof since === "number" ? `step ${since}` : since;
}

function switchText(enabled: boolean | undefined): string {
  if (enabled === undefined) return "switched as before";
  return enabled ? "on" : "off";
}

function percent(ppm: bigint): string {
  return `${Number(ppm) / 10_000} %`;
}
