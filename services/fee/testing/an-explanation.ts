import { formatExact, formatUnits } from "#kernel/values/exact-decimal.ts";
import type { ExplainedLayer, FeeExplanation } from "#proto/pamm/fee/v1/fee.ts";
import { formatMinor } from "#kernel/values/money.ts";

const E8_PER_CENT = 1_000_000n;
const PPM = 1_000_000n;
const SHARE_DECIMALS = 14;

/** Profit in cents that was earned in an interval, at the rate of a version. */
export type Earned = {
  readonly amount: bigint;
  readonly from: Date;
  readonly to?: Date;
  readonly ratePpm?: number;
  readonly version?: bigint;
};

/** How subscription explains a fee; amounts in cents. */
export type ExplainedFee = {
  readonly at: Date;
  readonly earned: bigint;
  readonly mark?: bigint;
  readonly floating?: bigint;
  readonly markedAt?: Date | undefined;
  readonly debt?: bigint;
  readonly through?: bigint;
  readonly since?: Date | undefined;
  readonly charged: readonly Earned[];
  readonly spared?: readonly Earned[];
};

/** The explanation of a fee, whose parts add up. */
export function anExplanation({ charged, spared = [], mark = 0n, ...parts }: ExplainedFee): FeeExplanation {
  const exact = charged.reduce((sum, layer) => sum + shareOf(layer), 0n);
  const fee = exact / (E8_PER_CENT * PPM);
  const rise = fee === 0n ? 0n : charged.reduce((sum, { amount }) => sum + amount, 0n);
  return {
    at: parts.at.toISOString(),
    earned: formatMinor(parts.earned),
    markBefore: formatMinor(mark),
    markAfter: formatMinor(mark + rise),
    floating: formatMinor(parts.floating ?? 0n),
    markedAt: parts.markedAt?.toISOString(),
    debtBefore: formatMinor(parts.debt ?? 0n),
    exactFee: formatExact(exact, SHARE_DECIMALS),
    fee: formatMinor(fee),
    throughNumber: parts.through?.toString(),
    since: parts.since?.toISOString(),
    charged: charged.map(layerOf),
    spared: spared.map(layerOf),
  };
}

function layerOf(layer: Earned): ExplainedLayer {
  const { amount, from, to = from, ratePpm = 300_000, version = 1n } = layer;
  return {
    amount: formatMinor(amount),
    earnedFrom: from.toISOString(),
    earnedTo: to.toISOString(),
    rate: formatUnits(BigInt(ratePpm), 6),
    share: formatExact(shareOf(layer), SHARE_DECIMALS),
    version: version === 0n ? undefined : String(version),
  };
}

function shareOf({ amount, ratePpm = 300_000 }: Earned): bigint {
  return amount * E8_PER_CENT * BigInt(ratePpm);
}
