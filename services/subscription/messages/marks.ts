import { moneyFromProto } from "#kernel/contract/money.ts";
import type { OldPrice, OpenPosition, ReadAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Mark } from "../domain/pool/strike-pool.ts";

/** A Master may have positions in hundreds of symbols. */
const MAX_SENTENCES = 5;

/** The open positions of a Master, or of an account under review, at a log position. */
export type MasterReading = {
  readonly login: string;
  /** The time just before the request. */
  readonly requestedAt: Date;
  /** The clock of the trading platform at that time: all deals up to then are at or before the log position, or arrive soon. */
  readonly platformAt: Date;
  readonly logNumber: bigint;
  /** The latest time of a deal up to there; undefined without one. */
  readonly lastDealAt: Date | undefined;
  /** Balance and open positions equal those computed from the log. */
  readonly isComplete: boolean;
  /** The balance less that of the log, in cents. */
  readonly difference: bigint;
  readonly marks: readonly Mark[];
  /** Whether it was asked if the prices of the positions are recent enough for a strike; if so, why they are not. */
  readonly arePricesChecked: boolean;
  readonly oldPrices: string | undefined;
};

export function masterReading(
  login: string,
  { complete: isComplete, balance, logBalance, positions, logNumber, lastDealAt, ...answer }: ReadAccountResponse,
  { requestedAt, arePricesChecked }: Pick<MasterReading, "requestedAt" | "arePricesChecked">,
): MasterReading {
  return {
    login,
    requestedAt,
    platformAt: answer.platformAt ?? requestedAt,
    logNumber,
    lastDealAt,
    isComplete,
    difference: moneyFromProto(balance, "balance").minor - moneyFromProto(logBalance, "log_balance").minor,
    marks: marksOf(positions),
    arePricesChecked,
    oldPrices: oldPricesText(answer.oldPrices),
  };
}

/** The floating result of a position is its profit with the swap. */
function marksOf(positions: readonly OpenPosition[]): Mark[] {
  return positions.map(({ positionId, volume, profit, swap }) => ({
    positionId,
    volume,
    floating: moneyFromProto(profit, "profit").minor + moneyFromProto(swap, "swap").minor,
  }));
}

/** Why positions cannot be marked, for operators; undefined when they can. */
function oldPricesText(oldPrices: readonly OldPrice[]): string | undefined {
  if (oldPrices.length === 0) return undefined;
  const known = oldPrices.filter(({ tickAt }) => tickAt !== undefined);
  const unknown = oldPrices.filter(({ tickAt }) => tickAt === undefined).map(({ symbol }) => symbol);
  const sentences = [
    ...known.map(({ symbol, tickAt }) => `The last price of ${symbol} is of ${tickAt?.toISOString()}.`),
    ...(unknown.length === 0 ? [] : [`The trading platform shows no time of the price of ${unknown.join(", ")}.`]),
  ];
  const more = sentences.length - MAX_SENTENCES;
  return [...sentences.slice(0, MAX_SENTENCES), ...(more > 0 ? [`So it is with ${more} more.`] : [])].join(" ");
}
