import type { Deal } from "../../mt5/deals.ts";
import type { LoggedDeal } from "../../domain/logged-deal.ts";
import { effectOf, isBalanceOperation, isWithoutEffect } from "../history/explain-deal.ts";

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
