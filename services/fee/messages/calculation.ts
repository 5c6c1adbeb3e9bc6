import type {
  ExplainedLayer,
  FeeCalculation as CalculationMessage,
  FeeExplanation,
  FeeVersion,
} from "#proto/pamm/fee/v1/fee.ts";
import type { CalculatedLayer, FeeCalculation, FeeFacts } from "../domain/fee-calculation.ts";
import type { Version, VersionState } from "../domain/timeline.ts";

export function feeFactsOf({
  at,
  markedAt,
  since,
  throughNumber,
  charged,
  spared,
  ...amounts
}: FeeExplanation): FeeFacts {
  return {
    ...amounts,
    at: new Date(at),
    markedAt: markedAt === undefined ? undefined : new Date(markedAt),
    since: since === undefined ? undefined : new Date(since),
    throughNumber: throughNumber === undefined ? undefined : BigInt(throughNumber),
    charged: charged.map(layerOf),
    spared: spared.map(layerOf),
  };
}

function layerOf({ amount, earnedFrom, earnedTo, rate, share, version }: ExplainedLayer): CalculatedLayer {
  const versionId = version === undefined ? undefined : BigInt(version);
  return { amount, earnedFrom: new Date(earnedFrom), earnedTo: new Date(earnedTo), rate, share, versionId };
}

/** The last deal of the Master whose result counts. */
export type LastDeal = { readonly dealId: bigint; readonly dealAt: Date };

export function calculationMessage(
  { throughNumber: _number, since: _since, charged, spared, ...calculation }: FeeCalculation,
  lastDeal: LastDeal | undefined,
): CalculationMessage {
  return {
    ...calculation,
    charged: [...charged],
    spared: [...spared],
    throughDealId: lastDeal?.dealId ?? 0n,
    throughDealAt: lastDeal?.dealAt,
  };
}

export function versionMessage(
  { id, ratePpm, enabled, effectiveSince, madeAt: createdAt }: Version,
  state: VersionState,
): FeeVersion {
  return { id, ratePpm, enabled, effectiveSince, createdAt, state };
}
