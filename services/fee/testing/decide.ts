import type { DecidedFee, FeeExplanation, InvestorTerms } from "#proto/pamm/fee/v1/fee.ts";
import { anExplanation } from "./an-explanation.ts";

/** The profit of an Investor with a Master, in cents. */
export type Pair = {
  readonly earned: bigint;
  readonly mark: bigint;
  /** Of the results that are not charged. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** When the fee before was decided. */
  readonly since?: Date | undefined;
};

export const NOTHING: Pair = { earned: 0n, mark: 0n };

export type Facts = {
  /** Undefined outside a pool. */
  readonly masterLogin: string | undefined;
  readonly pair: Pair;
  readonly terms: InvestorTerms;
  readonly at: Date;
  /** Cents; an open loss protects profit. */
  readonly floating?: bigint;
  readonly markedAt?: Date | undefined;
  /** The last entry of the Master's allocations that counts. */
  readonly through: bigint;
  /** Last part of the unique key of the fee. */
  readonly suffix: string;
  /** The cut-off of a week, or the key of a withdrawal or exit. */
  readonly occasion: Date | string;
};

export type Decided = {
  readonly due: DecidedFee[];
  readonly after: Pair;
  /** Undefined outside a pool, and while fees are switched off. */
  readonly explanation: FeeExplanation | undefined;
};

/** As subscription decides, but with one layer: all profit that is not charged has the rate of the instant. */
export function decide(facts: Facts): Decided {
  const { terms, masterLogin, pair, at, floating = 0n } = facts;
  const step = terms.steps.findLast(({ from }) => from === undefined || from <= at);
  if (step?.enabled !== true) return { due: [], after: pair, explanation: undefined };
  const debts = terms.debts.map((debt) => debtOf(facts, debt));
  if (masterLogin === undefined) return { due: debts, after: pair, explanation: undefined };
  const openLoss = floating < 0n ? -floating : 0n;
  const above = pair.earned - pair.mark;
  const charged = above > openLoss ? above - openLoss : 0n;
  const fee = (charged * BigInt(step.ratePpm)) / 1_000_000n;
  const layer = { from: pair.from ?? at, to: pair.to ?? at, ratePpm: step.ratePpm, version: step.versionId };
  const explanation = anExplanation({
    ...pair,
    ...facts,
    debt: terms.debts.reduce((sum, { amountMinor }) => sum + amountMinor, 0n),
    charged: charged > 0n ? [{ ...layer, amount: charged }] : [],
    spared: above > charged ? [{ ...layer, amount: above - charged }] : [],
  });
  if (fee === 0n) return { due: debts, after: pair, explanation };
  const due = { kind: "PF", suffix: facts.suffix, masterLogin, amountMinor: fee, since: at, explanation };
  const after = { ...pair, mark: pair.mark + charged, from: undefined, to: undefined, since: at };
  return { due: [...debts, { ...due, key: keyOf(facts, masterLogin) }], after, explanation };
}

function debtOf(
  facts: Facts,
  { masterLogin, amountMinor, since = facts.at }: InvestorTerms["debts"][number],
): DecidedFee {
  const { terms, occasion } = facts;
  const name = typeof occasion === "string" ? occasion : occasion.toISOString();
  return {
    key: `fee:${terms.investorLogin}:${masterLogin}:DEBT:${name}`,
    kind: "PF_DEBT",
    suffix: "DEBT",
    masterLogin,
    amountMinor,
    since,
    explanation: undefined,
  };
}

function keyOf({ terms, occasion, suffix }: Facts, masterLogin: string): string {
  const owner = `fee:${terms.investorLogin}:${masterLogin}:${suffix}`;
  return typeof occasion === "string" ? owner : `${owner}:${occasion.toISOString()}`;
}
