import { formatDecimal, usd } from "#kernel/money.ts";

/**
 * What a decision was made of, as it is stored with the payment: exact decimal text and instants. The sentences follow from it
 * (explanation-lines.ts).
 */
export type Explanation = {
  readonly facts: Readonly<Record<string, string | null>>;
  readonly charged: readonly ExplainedLayer[];
  readonly spared: readonly ExplainedLayer[];
};

/** Adjacent layers of one version and rate, combined so that a week of many results stays readable. */
export type ExplainedLayer = {
  readonly amount: string;
  /** Time of the first and of the last result in it. */
  readonly earnedFrom: string;
  readonly earnedTo: string;
  /** Null in the oldest item of a long list: it is the sum of layers with several rates. */
  readonly rate: string | null;
  readonly share: string;
  /** The version that the rate is of; null before the first one. */
  readonly version: string | null;
};

export type ImportedFacts = { readonly keyHash: string; readonly amount: bigint; readonly at: Date };

/** The platform has the deals of the fee, and the database has lost what it was for. */
export function explainImported({ keyHash, amount, at }: ImportedFacts): Explanation {
  const facts = { at: at.toISOString(), key_hash: keyHash, collected: formatDecimal(usd(amount)) };
  return { facts, charged: [], spared: [] };
}
