import { formatMinor } from "#kernel/money.ts";
import type { AmendmentKind, Trade } from "../domain/log-entry.ts";
import type { LoggedDeal } from "../domain/logged-deal.ts";
import { type Deal, effectOf, isBalanceOperation } from "../mt5/deals.ts";
import { tradeEntry } from "../protocol/history/deal-entries.ts";
import { isCanceled, isWithoutEffect } from "../protocol/history/explain-deal.ts";

/** Difference between the log and the platform about one deal of a login: the content of a correction. */
export type DealDifference = {
  /** Cents, signed: the effect that is shown now, less the amount in the log. */
  readonly amountMinor: bigint;
  /** The trade according to the log; undefined when it was no trade. */
  readonly recorded: Trade | undefined;
  readonly shown: Trade | undefined;
  /** What the correction makes of the deal. */
  readonly becomes: AmendmentKind;
  /** The log equals what the platform shows. */
  readonly isNone: boolean;
  /** What the platform shows, as text; another deal gives another text. */
  readonly nowShown: string;
};

type DealOfLogin = { readonly login: string; readonly ticket: bigint };

/** A deal with this ticket on another login is not a deal of this login. */
export function dealDifference(
  named: DealOfLogin,
  recorded: LoggedDeal | undefined,
  seen: Deal | undefined,
): DealDifference {
  const deal = seen?.login === named.login && seen.ticket === named.ticket ? seen : undefined;
  return {
    amountMinor: (deal === undefined ? 0n : shownEffect(deal)) - (recorded?.amountMinor ?? 0n),
    recorded: recorded?.trade,
    shown: deal && isTrade(deal) ? tradeEntry(deal).trade : undefined,
    becomes: becomesOf(deal),
    isNone: isLogged(recorded, deal),
    nowShown: deal === undefined ? "no such deal" : describe(deal),
  };
}

function isLogged(recorded: LoggedDeal | undefined, deal: Deal | undefined): boolean {
  if (recorded === undefined) return deal === undefined || shownEffect(deal) === 0n;
  if (deal === undefined) return recorded.correctedTo === "deal_gone";
  return differencesOf(recorded, deal).length === 0 && (!isCanceled(deal) || recorded.correctedTo === "deal_cancelled");
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

function describe(deal: Deal): string {
  const { action, entry, position, symbol, volume, volumeClosed, serverTimeMs } = deal;
  const money = `${formatMinor(shownEffect(deal))} by action ${action} at ${serverTimeMs}`;
  if (!isTrade(deal)) return money;
  return `${money}, entry ${entry} of position ${position} ${symbol}, volume ${volume} closing ${volumeClosed}`;
}

/**
 * Names of the fields that differ between the log and the platform. Comments are not compared: they decide nothing once a
 * deal is recorded, and the broker may edit them.
 */
export function differencesOf(logged: LoggedDeal, shown: Deal): string[] {
  if (logged.correctedTo === "deal_gone") return ["is_back"];
  const pairs = logged.trade === undefined ? moneyPairs(logged, shown) : tradePairs(logged.trade, shown);
  const time = logged.serverMsc ?? BigInt(shown.serverTimeMs);
  return [...pairs, ["login", logged.login, shown.login] as const, ["time", time, BigInt(shown.serverTimeMs)] as const]
    .filter(([, recorded, now]) => recorded !== now)
    .map(([name]) => name);
}

type Pair = readonly [name: string, recorded: unknown, now: unknown];

function moneyPairs({ amountMinor, correctedTo }: LoggedDeal, shown: Deal): Pair[] {
  // Corrected to a deal without effect on the balance: a credit, or a cancelled trade.
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
