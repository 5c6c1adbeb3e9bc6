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

/** What was in force since when, in the order of time, and what is planned to follow. */
type Timeline = {
  readonly rates: readonly From<bigint>[];
  readonly switches: readonly From<boolean>[];
  readonly planned: { readonly from: Instant; readonly rate: bigint; readonly enabled: boolean } | undefined;
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

/** The start of the version that follows. */
export function plannedAfter(configuration: Configuration, at: Instant): Instant | undefined {
  return begun(timelineOf(configuration), at).planned?.from;
}

/** Whether a version may be planned for a later time: no other one is. */
export function mayPlan(configuration: Configuration, at: Instant, since: Instant): boolean {
  const planned = plannedAfter(configuration, at);
  return since <= at || planned === undefined || planned === since;
}

const timelines = new WeakMap<Configuration, Timeline>();

function timelineOf(configuration: Configuration): Timeline {
  const known = timelines.get(configuration);
  if (known !== undefined) return known;
  const timeline = configuration.reduce(obey, { rates: [], switches: [], planned: undefined });
  timelines.set(configuration, timeline);
  return timeline;
}

function obey(before: Timeline, command: FeeCommand): Timeline {
  const timeline = begun(before, command.at);
  if (command.kind === "assignment") return assigned(timeline, command);
  if (command.kind === "cancellation") {
    return { ...timeline, planned: timeline.planned?.from === command.since ? undefined : timeline.planned };
  }
  return changed(timeline, command);
}

/** A new beginning: nothing of the old plans is left. */
function assigned({ rates, switches }: Timeline, { at, since = at, ratePpm, enabled }: FeeCommand): Timeline {
  if (ratePpm === undefined || enabled === undefined) throw new Error("an assignment has all values");
  return { rates: put(rates, since, ratePpm), switches: put(switches, since, enabled), planned: undefined };
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
  if (planned !== undefined && planned.from !== since) throw new Error("another version is planned");
  return {
    ...timeline,
    planned: { from: since, rate, enabled: enabled ?? valueAt(then.switches, since) ?? true },
  };
}

/** A plan for a time up to that one has come true. */
function begun(timeline: Timeline, at: Instant): Timeline {
  const { rates, switches, planned } = timeline;
  if (planned === undefined || planned.from > at) return timeline;
  const { from, rate, enabled } = planned;
  return { rates: put(rates, from, rate), switches: put(switches, from, enabled), planned: undefined };
}

/** In force from then on, whatever was said about later times. */
function put<T>(all: readonly From<T>[], from: Instant, value: T): readonly From<T>[] {
  return [...all.filter((each) => each.from < from), { value, from }];
}

function valueAt<T>(all: readonly From<T>[], at: Instant): T | undefined {
  return all.findLast(({ from }) => from <= at)?.value;
}
