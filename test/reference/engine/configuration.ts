import { type Fraction, fraction, ZERO } from "./fraction.ts";

/** Milliseconds since 1970. */
export type Instant = number;

/** A requested change of the fee configuration, and when it was requested. */
export type FeeCommand = {
  readonly at: Instant;
  /** Parts per million. */
  readonly ratePpm?: bigint;
  readonly enabled?: boolean;
  readonly since?: Instant;
};

/** All requested changes, in their order. */
export type Configuration = readonly FeeCommand[];

type From<T> = { readonly value: T; readonly from: Instant };

/** The rate of a result at that time; zero while fees are disabled. */
export function rateAt(configuration: Configuration, at: Instant): Fraction {
  const ppm = inForce(ratesOf(configuration), at);
  return ppm === undefined || !isEnabledAt(configuration, at) ? ZERO : fraction(ppm, 1_000_000n);
}

export function isEnabledAt(configuration: Configuration, at: Instant): boolean {
  return inForce(switchesOf(configuration), at) ?? false;
}

/** The last request is in force from its time on, and replaces requests that begin later. */
function inForce<T>(requests: readonly From<T>[], at: Instant): T | undefined {
  return requests.findLast(({ from }) => from <= at)?.value;
}

/** A rate may begin in the past. A change without a rate keeps the stored one. */
function ratesOf(configuration: Configuration): From<bigint>[] {
  const rates: From<bigint>[] = [];
  let stored: { rate: bigint; since: Instant } | undefined;
  for (const { at, ratePpm, since } of configuration) {
    const rate = ratePpm ?? stored?.rate;
    if (rate === undefined) throw new Error("a first configuration needs a rate");
    const value: From<bigint> = { value: rate, from: since ?? Math.max(at, stored?.since ?? at) };
    rates.push(value);
    stored = { rate, since: since ?? stored?.since ?? at };
  }
  return rates;
}

/** Enabling and disabling never act on the past. */
function switchesOf(configuration: Configuration): From<boolean>[] {
  return configuration.flatMap(({ at, enabled, since }, index) => {
    if (enabled === undefined && index > 0) return [];
    return [{ value: enabled ?? true, from: Math.max(at, since ?? at) }];
  });
}
