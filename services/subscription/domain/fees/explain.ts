import { formatMinor } from "#kernel/values/money.ts";
import { formatExact } from "#kernel/values/exact-decimal.ts";
import { formatRate, rateFromPpm } from "#kernel/values/rate.ts";
import { type Crystallisation, type RatedLayer, shareOf } from "./crystallise.ts";
import { type Earnings, sumOf } from "./layers.ts";
import { stepAt, type Terms } from "./terms.ts";

/** What a fee was decided with, as it is stored, and as the contract has it. `fee` makes sentences of it. */
export type Explanation = ReturnType<typeof explainFee>;

export type FeeFacts = Crystallisation & {
  readonly before: Earnings;
  readonly terms: Terms;
  readonly floating: bigint;
  readonly markedAt: Date | undefined;
  readonly debtBefore: bigint;
  /** The last entry of the Master's allocations whose results count. */
  readonly throughNumber?: bigint | undefined;
  /** When the fee before was decided; undefined before the first one. */
  readonly since?: Date | undefined;
  readonly at: Date;
};

/** A share is an amount of eight decimals times a rate of six. */
export const SHARE_DECIMALS = 14;

/** Items of a list of layers. An Investor whose fee changes more often between two fees has the oldest layers as one item. */
export const MAX_EXPLAINED_LAYERS = 100;

export function explainFee(facts: FeeFacts) {
  const { before, after, fee, exact, floating, markedAt, debtBefore, throughNumber, since, at, terms } = facts;
  return {
    at: at.toISOString(),
    earned: formatMinor(before.earned),
    markBefore: formatExact(before.mark),
    markAfter: formatExact(after.mark),
    floating: formatExact(floating),
    markedAt: markedAt?.toISOString(),
    debtBefore: formatMinor(debtBefore),
    exactFee: formatExact(exact, SHARE_DECIMALS),
    fee: formatMinor(fee),
    throughNumber: throughNumber?.toString(),
    since: since?.toISOString(),
    charged: explainLayers(facts.charged, terms),
    spared: explainLayers(facts.spared, terms),
  };
}

function versionAt(terms: Terms, earnedFrom: Date): string | undefined {
  const { versionId = 0n } = stepAt(terms, earnedFrom) ?? {};
  return versionId === 0n ? undefined : versionId.toString();
}

type VersionedLayer = RatedLayer & { readonly version: string | undefined };

/** Adjacent layers of one version and rate. The oldest item of a long list is the sum of layers with several, and has neither. */
type ExplainedLayer = ReturnType<typeof sumUp> & { readonly rate?: string; readonly version?: string | undefined };

function explainLayers(layers: readonly RatedLayer[], terms: Terms): ExplainedLayer[] {
  const runs = runsOfOneRate(layers.map((layer) => ({ ...layer, version: versionAt(terms, layer.earnedFrom) })));
  const oldest = runs.slice(0, Math.max(0, runs.length - MAX_EXPLAINED_LAYERS + 1)).flat();
  if (runs.length <= MAX_EXPLAINED_LAYERS) return runs.map(explainRun);
  return [sumUp(oldest), ...runs.slice(1 - MAX_EXPLAINED_LAYERS).map(explainRun)];
}

function explainRun(run: Run): ExplainedLayer {
  const [{ ratePpm, version }] = run;
  return { ...sumUp(run), rate: formatRate(rateFromPpm(BigInt(ratePpm))), version };
}

function sumUp(layers: readonly VersionedLayer[]) {
  const times = layers.flatMap(({ earnedFrom, earnedTo }) => [earnedFrom.getTime(), earnedTo.getTime()]);
  const share = layers.reduce((sum, layer) => sum + shareOf(layer), 0n);
  return {
    amount: formatExact(sumOf(layers)),
    earnedFrom: instant(Math.min(...times)),
    earnedTo: instant(Math.max(...times)),
    share: formatExact(share, SHARE_DECIMALS),
  };
}

type Run = [VersionedLayer, ...VersionedLayer[]];

function runsOfOneRate(layers: readonly VersionedLayer[]): Run[] {
  const runs: Run[] = [];
  for (const layer of layers) {
    const run = runs.at(-1);
    if (run?.[0].ratePpm === layer.ratePpm && run[0].version === layer.version) run.push(layer);
    else runs.push([layer]);
  }
  return runs;
}

function instant(ms: number): string {
  // oxlint-disable-next-line eslint/no-restricted-globals -- The argument gives the instant, not the clock.
  return new Date(ms).toISOString();
}
