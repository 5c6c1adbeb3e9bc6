import type { DueFee } from "../decide-departure.ts";

/** The terms of an Investor's fees from an instant until the next step. */
export type TermsStep = {
  /** Undefined in the first step: from the beginning. */
  readonly from: Date | undefined;
  /** Parts per million; 0 while fees are switched off, and before the first version is valid. */
  readonly ratePpm: number;
  /** Whether fees are collected. */
  readonly enabled: boolean;
  /** The version that has the rate; 0 before the first one is valid. */
  readonly versionId: bigint;
};

/** In the sequence in which they begin; empty without a configuration: then there are no fees. */
export type Terms = readonly TermsStep[];

/** The terms of an Investor, and what it owes, as `fee` has answered before a decision. Amounts in cents. */
export type FeeFacts = {
  readonly terms: Terms;
  /** The terms are not known before this instant; undefined: of all instants they are. */
  readonly since: Date | undefined;
  /** When the newest version was made; undefined without a configuration. */
  readonly updatedAt: Date | undefined;
  /** To all Masters whose fees are not stopped, the oldest first. */
  readonly debts: readonly Debt[];
  /** What imported fees have paid and no fee was due for yet, by Master. */
  readonly prepaid: ReadonlyMap<string, bigint>;
  /** Fees of closed weeks that are recorded and not debited yet. */
  readonly openWeekly: readonly DueFee[];
};

export function stepAt(terms: Terms, at: Date): TermsStep | undefined {
  return terms.findLast(({ from }) => from === undefined || from <= at);
}

/** The rate of profit earned at an instant, in parts per million. */
export function rateAt(terms: Terms, earnedAt: Date): number {
  return stepAt(terms, earnedAt)?.ratePpm ?? 0;
}

/** Whether fees are collected at an instant. */
export function isEnabledAt(terms: Terms, at: Date): boolean {
  return stepAt(terms, at)?.enabled ?? false;
}

/** Says of two instants, the earlier one first, whether a step begins after the first and not after the second: their profits may have different rates. */
export function changesOf(terms: Terms): (from: Date, to: Date) => boolean {
  return (from, to) => terms.some((step) => step.from !== undefined && step.from > from && step.from <= to);
}

/** Crystallised fees that one Investor still owes to one Master. */
export type Debt = {
  readonly masterLogin: string;
  /** Cents, positive. */
  readonly amount: bigint;
  /** When the oldest part of it became due. */
  readonly since: Date;
};

/** Oldest first; at the same instant by Master login. */
export function inOrder(debts: readonly Debt[]): Debt[] {
  return debts.toSorted(
    (left, right) => left.since.getTime() - right.since.getTime() || (left.masterLogin < right.masterLogin ? -1 : 1),
  );
}

export function sumOfDebts(debts: readonly Debt[]): bigint {
  return debts.reduce((sum, { amount }) => sum + amount, 0n);
}
