import { type Fraction, fraction, ZERO } from "./fraction.ts";

/** Milliseconds since 1970. */
export type Instant = number;

/** What somebody asked for, and when. */
export type FeeCommand = {
  readonly at: Instant;
  /** Parts per million. */
  readonly ratePpm?: bigint;
  readonly enabled?: boolean;
  readonly since?: Instant;
};

/** All that was ever asked for, in that order. */
export type Configuration = readonly FeeCommand[];

type From<T> = { readonly value: T; readonly from: Instant };

/** The rate of a result of that time; nothing while fees are switched off. */
export function rateAt(configuration: Configuration, at: Instant): Fraction {
  const ppm = inForce(ratesOf(configuration), at);
  return ppm === undefined || !isEnabledAt(configuration, at) ? ZERO : fraction(ppm, 1_000_000n);
}

export function isEnabledAt(configuration: Configuration, at: Instant): boolean {
  return inForce(switchesOf(configuration), at) ?? false;
}

/** What is asked last holds from its time on, over all that begins later. */
function inForce<T>(asked: readonly From<T>[], at: Instant): T | undefined {
  return asked.findLast(({ from }) => from <= at)?.value;
}

/** A rate may begin in the past. What is left out stays as it is stored. */
function ratesOf(configuration: Configuration): From<bigint>[] {
  const rates: From<bigint>[] = [];
  let stored: { rate: bigint; since: Instant } | undefined;
  for (const { at, ratePpm, since } of configuration) {
    const rate = ratePpm ?? stored?.rate;
    if (rate === undefined) throw new Error("a first configuration names a rate");
    const value: From<bigint> = { value: rate, from: since ?? Math.max(at, stored?.since ?? at) };
    rates.push(value);
    stored = { rate, since: since ?? stored?.since ?? at };
  }
  return rates;
}

/** A switch never acts on the past. */
function switchesOf(configuration: Configuration): From<boolean>[] {
  return configuration.flatMap(({ at, enabled, since }, index) => {
    if (enabled === undefined && index > 0) return [];
    return [{ value: enabled ?? true, from: Math.max(at, since ?? at) }];
  });
}
