import { MINUTE_MS } from "#kernel/duration.ts";
import { formatExact, parseExact } from "#kernel/exact-decimal.ts";
import type { ExplainedLayer, Explanation } from "./explain.ts";

/** How a fee follows from the profit of an Investor with a Master. Amounts are exact decimal text, in USD. */
export type FeeCalculation = {
  /** The cut-off of a week, or the instant of a decision. */
  readonly at: Date;
  /** The sum of all results since the first baseline. */
  readonly earned: string;
  readonly markBefore: string;
  readonly markAfter: string;
  /** Share of the result of open positions; 0.00 when the Master was flat. */
  readonly floating: string;
  readonly markedAt: Date | undefined;
  /** How much later than `at` the open positions were valued; undefined when that was in time. */
  readonly markedLateMs: bigint | undefined;
  /** Debts to all Masters before it. */
  readonly debtBefore: string;
  readonly charged: readonly CalculatedLayer[];
  readonly spared: readonly CalculatedLayer[];
  readonly exactFee: string;
  readonly roundedOff: string;
  readonly fee: string;
  /** When the fee before was decided; undefined before the first one. */
  readonly since: Date | undefined;
  /** The last entry of the Master's allocations whose results count. */
  readonly throughNumber: bigint | undefined;
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
export function calculationOf({ facts, charged, spared }: Explanation): FeeCalculation | undefined {
  const { at, earned, floating, fee, exact_fee: exactFee, mark_before: markBefore, mark_after: markAfter } = facts;
  if (!at || !earned || !floating || !fee || !exactFee || !markBefore || !markAfter) return undefined;
  const exact = parseExact(exactFee, SHARE_DECIMALS);
  const whole = parseExact(fee, 2);
  const shares = sumOf(charged, ({ share }) => parseExact(share, SHARE_DECIMALS));
  if (exact === undefined || whole === undefined || shares !== exact) return undefined;
  if (exact / SHARES_PER_CENT !== whole) return undefined;
  if (!isBetweenMarks(facts, charged, whole)) return undefined;
  return {
    at: instant(at),
    earned,
    markBefore,
    markAfter,
    floating,
    ...marking(instant(at), facts["marked_at"]),
    debtBefore: facts["debt_before"] ?? "0.00",
    charged: charged.map(calculatedLayer),
    spared: spared.map(calculatedLayer),
    exactFee,
    roundedOff: formatExact(exact - whole * SHARES_PER_CENT, SHARE_DECIMALS),
    fee,
    since: facts["since"] ? instant(facts["since"]) : undefined,
    throughNumber: facts["through_number"] ? BigInt(facts["through_number"]) : undefined,
  };
}

/** Positions are valued some seconds after a cut-off, when the deals before it have been received. */
const IN_TIME_MS = MINUTE_MS;

function marking(at: Date, shown: string | null | undefined): Pick<FeeCalculation, "markedAt" | "markedLateMs"> {
  const markedAt = shown ? instant(shown) : undefined;
  const lateMs = markedAt === undefined ? 0 : markedAt.getTime() - at.getTime();
  return { markedAt, markedLateMs: lateMs > IN_TIME_MS ? BigInt(lateMs) : undefined };
}

/** The charged layers are what the mark rises by; below one cent it stays. */
function isBetweenMarks(
  { mark_before: before, mark_after: after }: Explanation["facts"],
  charged: readonly ExplainedLayer[],
  fee: bigint,
): boolean {
  const [from, to] = [parseExact(before ?? ""), parseExact(after ?? "")];
  if (from === undefined || to === undefined) return false;
  const amounts = sumOf(charged, ({ amount }) => parseExact(amount));
  return fee === 0n ? from === to : to - from === amounts;
}

function sumOf(
  layers: readonly ExplainedLayer[],
  of: (layer: ExplainedLayer) => bigint | undefined,
): bigint | undefined {
  return layers.reduce<bigint | undefined>((sum, layer) => {
    const own = of(layer);
    return sum === undefined || own === undefined ? undefined : sum + own;
  }, 0n);
}

function calculatedLayer({ amount, earnedFrom, earnedTo, rate, share, version }: ExplainedLayer): CalculatedLayer {
  return {
    amount,
    earnedFrom: instant(earnedFrom),
    earnedTo: instant(earnedTo),
    rate: rate ?? undefined,
    share,
    versionId: version ? BigInt(version) : undefined,
  };
}

function instant(text: string): Date {
  // oxlint-disable-next-line eslint/no-restricted-globals -- The argument gives the instant, not the clock.
  return new Date(text);
}
