import { formatDecimal, usd } from "#kernel/money.ts";
import type { AmendmentKind, Trade } from "../domain/log-entry.ts";
import type { LoggedDeal } from "../domain/logged-deal.ts";
import type { Deal } from "../mt5/deals.ts";
import { tradeEntry } from "../protocol/history/deal-entries.ts";
import { effectOf, isBalanceOperation, isCanceled, isWithoutEffect } from "../protocol/history/explain-deal.ts";

/** What a correction would say about one deal of a login. */
export type DealDifference = {
  /** Cents, signed: what is shown now, less what the log says. */
  readonly amountMinor: bigint;
  /** As the log says it; undefined when it was no trade. */
  readonly told: Trade | undefined;
  readonly shown: Trade | undefined;
  /** What the deal is from then on. */
  readonly becomes: AmendmentKind;
  /** The log says already what the platform shows. */
  readonly isNone: boolean;
  /** What the platform shows, in words that are others when it shows something else. */
  readonly nowShown: string;
};

type Named = { readonly login: string; readonly ticket: bigint };

/** A deal under this ticket on another login is none of this one's. */
export function dealDifference(named: Named, told: LoggedDeal | undefined, seen: Deal | undefined): DealDifference {
  const deal = seen?.login === named.login && seen.ticket === named.ticket ? seen : undefined;
  return {
    amountMinor: (deal === undefined ? 0n : shownEffect(deal)) - (told?.amountMinor ?? 0n),
    told: told?.trade,
    shown: deal && isTrade(deal) ? tradeEntry(deal).trade : undefined,
    becomes: becomesOf(deal),
    isNone: isSaid(told, deal),
    nowShown: deal === undefined ? "no such deal" : wordsOf(deal),
  };
}

function isSaid(told: LoggedDeal | undefined, deal: Deal | undefined): boolean {
  if (told === undefined) return deal === undefined || shownEffect(deal) === 0n;
  if (deal === undefined) return told.correctedTo === "deal_gone";
  return differencesOf(told, deal).length === 0 && (!isCanceled(deal) || told.correctedTo === "deal_cancelled");
}

function becomesOf(deal: Deal | undefined): AmendmentKind {
  if (deal === undefined) return "deal_gone";
  return isCanceled(deal) ? "deal_cancelled" : "deal_changed";
}

function shownEffect(deal: Deal): bigint {
  return isWithoutEffect(deal) ? 0n : effectOf(deal);
}

function isTrade(deal: Deal): boolean {
  return !isWithoutEffect(deal) && !isBalanceOperation(deal);
}

function wordsOf(deal: Deal): string {
  const { action, entry, position, symbol, volume, volumeClosed, serverTimeMs } = deal;
  const money = `${formatDecimal(usd(shownEffect(deal)))} by action ${action} at ${serverTimeMs}`;
  if (!isTrade(deal)) return money;
  return `${money}, entry ${entry} of position ${position} ${symbol}, volume ${volume} closing ${volumeClosed}`;
}

/**
 * What the platform shows otherwise than it was told, by name. Comments are not among it: they decide nothing once a deal
 * is explained, and the platform's people may write into them.
 */
export function differencesOf(logged: LoggedDeal, shown: Deal): string[] {
  if (logged.correctedTo === "deal_gone") return ["is_back"];
  const pairs = logged.trade === undefined ? moneyPairs(logged, shown) : tradePairs(logged.trade, shown);
  const time = logged.serverMsc ?? BigInt(shown.serverTimeMs);
  return [...pairs, ["login", logged.login, shown.login] as const, ["time", time, BigInt(shown.serverTimeMs)] as const]
    .filter(([, told, now]) => told !== now)
    .map(([name]) => name);
}

type Pair = readonly [name: string, told: unknown, now: unknown];

function moneyPairs({ amountMinor, correctedTo }: LoggedDeal, shown: Deal): Pair[] {
  // Corrected to something that moves no balance: a credit, or a trade that was taken back.
  if (correctedTo !== undefined && isWithoutEffect(shown)) return [["amount", amountMinor, 0n]];
  return [
    ["amount", amountMinor, effectOf(shown)],
    ["action", true, isBalanceOperation(shown)],
  ];
}

function tradePairs(trade: NonNullable<LoggedDeal["trade"]>, shown: Deal): Pair[] {
  return [
    ["action", trade.action, shown.action],
    ["entry", trade.entry, shown.entry],
    ["position", trade.positionId, shown.position],
    ["symbol", trade.symbol, shown.symbol],
    ["volume", trade.volume, shown.volume],
    ["volume_closed", trade.volumeClosed, shown.volumeClosed],
    ["profit", trade.profit.minor, shown.profitMinor],
    ["swap", trade.swap.minor, shown.swapMinor],
    ["commission", trade.commission.minor, shown.commissionMinor],
    ["fee", trade.fee.minor, shown.feeMinor],
  ];
}
