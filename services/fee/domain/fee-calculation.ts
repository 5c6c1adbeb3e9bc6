import { MINUTE_MS } from "#kernel/values/duration.ts";
import { formatExact, parseExact } from "#kernel/values/exact-decimal.ts";

/** What a fee was decided with. Amounts are exact decimal text, in USD. */
export type FeeFacts = {
  /** The cut-off of a week, or the instant of a decision. */
  readonly at: Date;
  /** The sum of all results since the first baseline. */
  readonly earned: string;
  readonly markBefore: string;
  readonly markAfter: string;
  /** Share of the result of open positions; 0.00 when the Master was flat. */
  readonly floating: string;
  readonly markedAt: Date | undefined;
  /** Debts to all Masters before it. */
  readonly debtBefore: string;
  readonly charged: readonly CalculatedLayer[];
  readonly spared: readonly CalculatedLayer[];
  readonly exactFee: string;
  readonly fee: string;
  /** When the fee before was decided; undefined before the first one. */
  readonly since: Date | undefined;
  /** The last entry of the Master's allocations whose results count. */
  readonly throughNumber: bigint | undefined;
};

/** How a fee follows from the profit of an Investor with a Master. */
export type FeeCalculation = FeeFacts & {
  /** How much later than `at` the open positions were valued; undefined when that was in time. */
  readonly markedLateMs: bigint | undefined;
  readonly roundedOff: string;
};

export type CalculatedLayer = {
  readonly amount: string;
  readonly earnedFrom: Date;
  readonly earnedTo: Date;
  /** Undefined for the sum of the oldest layers, which have several. */
  readonly rate: string | undefined;
  readonly share: string;
  readonly versionId: bigint | undefined;
};

/** A share is an amount of eight decimals times a rate of six. */
const SHARE_DECIMALS = 14;
const SHARES_PER_CENT = 1_000_000_000_000n;

/** Undefined where the parts do not add up to the fee: no explanation is better than a wrong one. */
export function calculationOf(facts: FeeFacts): FeeCalculation | undefined {
  const exact = parseExact(facts.exactFee, SHARE_DECIMALS);
  const whole = parseExact(facts.fee, 2);
  const shares = sumOf(facts.charged, ({ share }) => parseExact(share, SHARE_DECIMALS));
  if (exact === undefined || whole === undefined || shares !== exact) return undefined;
  if (exact / SHARES_PER_CENT !== whole || !isBetweenMarks(facts, whole)) return undefined;
  const roundedOff = formatExact(exact - whole * SHARES_PER_CENT, SHARE_DECIMALS);
  return { ...facts, markedLateMs: lateMs(facts), roundedOff };
}

/** Positions are valued some seconds after a cut-off, when the deals before it have been received. */
const IN_TIME_MS = MINUTE_MS;

function lateMs({ at, markedAt = at }: FeeFacts): bigint | undefined {
  const ms = markedAt.getTime() - at.getTime();
  return ms > IN_TIME_MS ? BigInt(ms) : undefined;
}

/** The charged layers are what the mark rises by; below one cent it stays. */
function isBetweenMarks({ markBefore, markAfter, charged }: FeeFacts, fee: bigint): boolean {
  const [from, to] = [parseExact(markBefore), parseExact(markAfter)];
  if (from === undefined || to === undefined) return false;
  return fee === 0n ? from === to : to - from === sumOf(charged, ({ amount }) => parseExact(amount));
}

function sumOf(
  layers: readonly CalculatedLayer[],
  of: (layer: CalculatedLayer) => bigint | undefined,
): bigint | undefined {
  return layers.reduce<bigint | undefined>((sum, layer) => {
    const own = of(layer);
    return sum === undefined || own === undefined ? undefined : sum + own;
  }, 0n);
}
