import { type Fraction, fraction, ZERO } from "./fraction.ts";

/** Milliseconds since 1970. */
export type Instant = number;

/** A requested change of the fee configuration, and when it was requested. */
export type FeeCommand = {
  readonly at: Instant;
  /** Without one it is a change. An assignment has all values; a cancellation is of the version that is planned for `since`. */
  readonly kind?: "assignment" | "cancellation";
  /** Parts per million. */
  readonly ratePpm?: bigint;
  readonly enabled?: boolean;
  readonly since?: Instant;
};

/** All requested changes, in their order. */
export type Configuration = readonly FeeCommand[];

type From<T> = { readonly value: T; readonly from: Instant };

/** What was in force since when, and what is planned to follow; each in the order of time. */
type Timeline = {
  readonly rates: readonly From<bigint>[];
  readonly switches: readonly From<boolean>[];
  readonly planned: readonly { readonly from: Instant; readonly rate: bigint; readonly enabled: boolean }[];
};

/** The rate of a result at that time; zero while fees are disabled. */
export function rateAt(configuration: Configuration, at: Instant): Fraction {
  const { rates } = begun(timelineOf(configuration), at);
  const ppm = valueAt(rates, at);
  return ppm === undefined || !isEnabledAt(configuration, at) ? ZERO : fraction(ppm, 1_000_000n);
}

export function isEnabledAt(configuration: Configuration, at: Instant): boolean {
  const { switches } = begun(timelineOf(configuration), at);
  return valueAt(switches, at) ?? false;
}

/** Whether a version is in force then, whose rate a change without one takes over. */
export function hasRateAt(configuration: Configuration, at: Instant): boolean {
  return valueAt(begun(timelineOf(configuration), at).rates, at) !== undefined;
}

/** The start of the version in force. */
export function inForceSince(configuration: Configuration, at: Instant): Instant | undefined {
  return begun(timelineOf(configuration), at).rates.at(-1)?.from;
}

/** The starts of the versions that follow. */
export function plannedAfter(configuration: Configuration, at: Instant): Instant[] {
  return begun(timelineOf(configuration), at).planned.map(({ from }) => from);
}

const timelines = new WeakMap<Configuration, Timeline>();

function timelineOf(configuration: Configuration): Timeline {
  const known = timelines.get(configuration);
  if (known !== undefined) return known;
  const timeline = configuration.reduce(obey, { rates: [], switches: [], planned: [] });
  timelines.set(configuration, timeline);
  return timeline;
}

function obey(before: Timeline, command: FeeCommand): Timeline {
  const timeline = begun(before, command.at);
  if (command.kind === "assignment") return assigned(timeline, command);
  if (command.kind === "cancellation") {
    return { ...timeline, planned: timeline.planned.filter(({ from }) => from !== command.since) };
  }
  return changed(timeline, command);
}

/** A new beginning: nothing of the old plans is left. */
function assigned({ rates, switches }: Timeline, { at, since = at, ratePpm, enabled }: FeeCommand): Timeline {
  if (ratePpm === undefined || enabled === undefined) throw new Error("an assignment has all values");
  return { rates: put(rates, since, ratePpm), switches: put(switches, since, enabled), planned: [] };
}

/** A rate may begin in the past, enabling and disabling never do. What is planned stays planned. */
function changed(timeline: Timeline, { at, since: sent = at, ratePpm, enabled }: FeeCommand): Timeline {
  const { rates, switches, planned } = timeline;
  const since = sent === rates.at(-1)?.from ? at : sent;
  const then = begun(timeline, since);
  const rate = ratePpm ?? valueAt(then.rates, since);
  if (rate === undefined) throw new Error("a first configuration needs a rate");
  if (since <= at) {
    const isOn = enabled ?? valueAt(switches, at) ?? true;
    return { rates: put(rates, since, rate), switches: put(switches, at, isOn), planned };
  }
  const plan = { from: since, rate, enabled: enabled ?? valueAt(then.switches, since) ?? true };
  const others = planned.filter(({ from }) => from !== since);
  return { ...timeline, planned: [...others, plan].toSorted((one, other) => one.from - other.from) };
}

/** The plans up to that time have come true. */
function begun({ rates, switches, planned }: Timeline, at: Instant): Timeline {
  const due = planned.filter(({ from }) => from <= at);
  return {
    rates: due.reduce<readonly From<bigint>[]>((all, { from, rate }) => put(all, from, rate), rates),
    switches: due.reduce<readonly From<boolean>[]>((all, { from, enabled }) => put(all, from, enabled), switches),
    planned: planned.filter(({ from }) => from > at),
  };
}

/** In force from then on, whatever was said about later times. */
function put<T>(all: readonly From<T>[], from: Instant, value: T): readonly From<T>[] {
  return [...all.filter((each) => each.from < from), { value, from }];
}

function valueAt<T>(all: readonly From<T>[], at: Instant): T | undefined {
  return all.findLast(({ from }) => from <= at)?.value;
}
