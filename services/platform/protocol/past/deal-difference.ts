import { formatDecimal, usd } from "#kernel/money.ts";
import type { Irregularity, Trade } from "../../domain/log-entry.ts";
import type { LoggedDeal } from "../../domain/logged-deal.ts";
import type { Deal } from "../../mt5/deals.ts";
import { differencesOf } from "./changed-deal.ts";
import { tradeEntry } from "../history/deal-entries.ts";
import { effectOf, isBalanceOperation, isCanceled, isWithoutEffect } from "../history/explain-deal.ts";

/** What a correction would say about one deal of a login. */
export type DealDifference = {
  /** Cents, signed: what is shown now, less what the log says. */
  readonly amountMinor: bigint;
  /** As the log says it; undefined when it was no trade. */
  readonly told: Trade | undefined;
  readonly shown: Trade | undefined;
  /** What the deal is from then on. */
  readonly becomes: Irregularity;
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

function becomesOf(deal: Deal | undefined): Irregularity {
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
