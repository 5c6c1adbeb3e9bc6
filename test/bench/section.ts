import { type Spread, spreadOf } from "./statistics.ts";

/** What a workload reports. Plain data: it is stored as JSON, and the document is written from it. */
export type Section = {
  readonly comparisons: readonly Comparison[];
  readonly tables: readonly Table[];
  /** Of operations, by their names, for docs/scaling.md. */
  readonly operationCosts?: Readonly<Record<string, OperationCosts>>;
};

/** Processor milliseconds of one operation by process, with many at work. */
export type OperationCosts = Readonly<Record<string, number>>;

/** Two measurements compared, in pairs that were taken one after the other. */
export type Comparison = {
  readonly what: string;
  readonly comparedTo: string;
  readonly value: Spread;
  /** `times` for a ratio, or the unit of a difference or of a single figure. */
  readonly unit: string;
  readonly pairs: number;
  readonly target: Target | undefined;
  /** What the machine did meanwhile; shown when the target is missed. */
  readonly limit?: string;
};

/** The bound that the median has to keep. */
export type Target = { readonly atLeast: number } | { readonly atMost: number };

export type Table = {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

/** A figure that is compared to nothing but its target. */
export function figure(what: string, unit: string, values: readonly number[], target?: Target): Comparison {
  return { what, comparedTo: "", unit, value: spreadOf(values), pairs: values.length, target };
}

/** A figure by what it is compared to, in pairs of measurements. */
export function ratio(
  what: string,
  comparedTo: string,
  ratios: readonly number[],
  { target, ...rest }: { readonly target?: Target | undefined; readonly limit?: string } = {},
): Comparison {
  return { what, comparedTo, value: spreadOf(ratios), unit: "times", pairs: ratios.length, target, ...rest };
}

export function isMet({ median }: Spread, target: Target): boolean {
  return "atLeast" in target ? median >= target.atLeast : median <= target.atMost;
}
