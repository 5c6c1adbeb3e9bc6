import type { FeeCalculation as CalculationMessage, FeeLayer } from "#proto/pamm/fee/v1/fee.ts";
import type { CalculatedLayer, FeeCalculation } from "../domain/fee-calculation.ts";

/** The last deal of the Master whose result counts. */
export type LastDeal = { readonly dealId: bigint; readonly dealAt: Date };

export function calculationMessage(
  { throughNumber: _number, since: _since, charged, spared, ...calculation }: FeeCalculation,
  lastDeal: LastDeal | undefined,
): CalculationMessage {
  return {
    ...calculation,
    charged: charged.map(layerMessage),
    spared: spared.map(layerMessage),
    throughDealId: lastDeal?.dealId ?? 0n,
    throughDealAt: lastDeal?.dealAt,
  };
}

function layerMessage(layer: CalculatedLayer): FeeLayer {
  return { ...layer };
}
