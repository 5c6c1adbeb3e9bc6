import { formatDecimal, usd } from "#kernel/money.ts";
import { formatRate, rateFromPpm } from "#kernel/rate.ts";
import { type Crystallisation, type RatedLayer, shareOf } from "./crystallise.ts";
import { type Earnings, sumOf } from "./layers.ts";
import { formatExact } from "./units.ts";

/** Everything needed to recalculate a payment by hand. Stored with the payment. */
export type Explanation = {
  /** Readable text. */
  readonly lines: readonly string[];
  /** Machine-readable values: exact decimal text and instants. */
  readonly facts: Readonly<Record<string, string | null>>;
  readonly charged: readonly ExplainedLayer[];
  readonly spared: readonly ExplainedLayer[];
};

/** Adjacent layers of one rate, combined so that a week of many results stays readable. */
export type ExplainedLayer = {
  readonly amount: string;
  /** Time of the first and of the last result in it. */
  readonly earnedFrom: string;
  readonly earnedTo: string;
  readonly rate: string;
  readonly share: string;
};

export type FeeFacts = Crystallisation & {
  readonly before: Earnings;
  readonly floating: bigint;
  readonly markedAt: Date | undefined;
  readonly debtBefore: bigint;
  readonly at: Date;
};

export type DebtFacts = {
  readonly masterLogin: string;
  readonly amount: bigint;
  readonly since: Date;
  readonly at: Date;
};

export type ImportedFacts = { readonly keyHash: string; readonly amount: bigint; readonly at: Date };

/** A share is an amount of eight decimals times a rate of six. */
const SHARE_DECIMALS = 14;

export function explainFee(facts: FeeFacts): Explanation {
  const { before, after, fee, exact, floating, markedAt, debtBefore, at } = facts;
  const layers = { charged: explainLayers(facts.charged), spared: explainLayers(facts.spared) };
  return {
    lines: feeLines(facts, layers),
    facts: {
      at: at.toISOString(),
      earned: cents(before.earned),
      mark_before: formatExact(before.mark),
      mark_after: formatExact(after.mark),
      floating: formatExact(floating),
      marked_at: markedAt?.toISOString() ?? null,
      debt_before: cents(debtBefore),
      exact_fee: formatExact(exact, SHARE_DECIMALS),
      rounding: "down",
      fee: cents(fee),
    },
    ...layers,
  };
}

export function explainDebt({ masterLogin, amount, since, at }: DebtFacts): Explanation {
  const text = `Fees of Master ${masterLogin} that were due and could not be taken, the oldest since ${since.toISOString()}: ${cents(amount)}`;
  const facts = { at: at.toISOString(), since: since.toISOString(), debt: cents(amount) };
  return { lines: [text], facts, charged: [], spared: [] };
}

/** The platform has the deals of the fee, and the database has lost what it was for. */
export function explainImported({ keyHash, amount, at }: ImportedFacts): Explanation {
  const text = `A fee of ${cents(amount)} was collected before the database was restored; it is taken from the fees that are due`;
  return {
    lines: [text],
    facts: { at: at.toISOString(), key_hash: keyHash, collected: cents(amount) },
    charged: [],
    spared: [],
  };
}

type ExplainedLayers = Pick<Explanation, "charged" | "spared">;

function feeLines(facts: FeeFacts, { charged, spared }: ExplainedLayers): string[] {
  const { before, after, fee, exact, at } = facts;
  const profit = formatExact(sumOf(before.layers));
  return [
    `At ${at.toISOString()}: result ${cents(before.earned)}, high-water mark ${formatExact(before.mark)}, profit above it ${profit}`,
    ...openLines(facts),
    ...spared.map((layer) => `Not charged now: ${layer.amount} earned ${whenOf(layer)}`),
    ...charged.map((layer) => {
      return `${layer.amount} earned ${whenOf(layer)} x ${layer.rate} = ${layer.share}`;
    }),
    `Sum ${formatExact(exact, SHARE_DECIMALS)}, rounded down to the cent: fee ${cents(fee)}`,
    `High-water mark afterwards ${formatExact(after.mark)}`,
  ];
}

function openLines({ floating, markedAt }: FeeFacts): string[] {
  if (floating === 0n && markedAt === undefined) return [];
  const when = markedAt === undefined ? "" : ` at ${markedAt.toISOString()}`;
  const effect = floating < 0n ? "taken from the profit that was earned last" : "open profit raises no fee";
  return [`Open result${when}: ${formatExact(floating)}, ${effect}`];
}

function whenOf({ earnedFrom, earnedTo }: ExplainedLayer): string {
  return earnedFrom === earnedTo ? earnedFrom : `${earnedFrom} to ${earnedTo}`;
}

function explainLayers(layers: readonly RatedLayer[]): ExplainedLayer[] {
  return runsOfOneRate(layers).map((run) => {
    const [first] = run;
    const whole = { ...first, amount: sumOf(run) };
    return {
      amount: formatExact(whole.amount),
      earnedFrom: first.earnedFrom.toISOString(),
      earnedTo: (run.at(-1) ?? first).earnedTo.toISOString(),
      rate: formatRate(rateFromPpm(BigInt(first.ratePpm))),
      share: formatExact(shareOf(whole), SHARE_DECIMALS),
    };
  });
}

type Run = [RatedLayer, ...RatedLayer[]];

function runsOfOneRate(layers: readonly RatedLayer[]): Run[] {
  const runs: Run[] = [];
  for (const layer of layers) {
    const run = runs.at(-1);
    if (run?.[0].ratePpm === layer.ratePpm) run.push(layer);
    else runs.push([layer]);
  }
  return runs;
}

function cents(minor: bigint): string {
  return formatDecimal(usd(minor));
}
