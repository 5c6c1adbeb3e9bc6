import { formatMinor } from "#kernel/values/money.ts";
import type { Trade } from "../domain/log-entry.ts";
import { type Deal, DEAL_ACTION, effectOf, isBalanceOperation } from "../mt5/deals.ts";
import { isWithoutEffect } from "../protocol/history/explain-deal.ts";
import type { BookedDeal } from "../store/deal-records.ts";

type Described = Trade & Pick<Deal, "serverTimeMs">;

export const NO_DEAL = "no such deal";

/**
 * A deal as text: two deals have the same text when they change balance and positions alike. Comments are not part of it: they decide
 * nothing once a deal is recorded, and the broker may edit them.
 */
export function describeDeal(deal: Described): string {
  const { action, entry, positionId, symbol, volume, volumeClosed, serverTimeMs } = deal;
  const at = serverTimeMs === 0 ? "" : ` at ${serverTimeMs}`;
  if (isWithoutEffect(deal)) return `nothing on the balance, action ${action}${at}`;
  const effect = formatMinor(effectOf(deal));
  if (isBalanceOperation(deal)) return `${effect} as a balance operation${at}`;
  const { profitMinor, swapMinor, commissionMinor, feeMinor } = deal;
  const parts = [profitMinor, swapMinor, commissionMinor, feeMinor].map(formatMinor).join(", ");
  return `${effect} (${parts}) by action ${action}${at}, entry ${entry} of position ${positionId} ${symbol}, volume ${volume} closing ${volumeClosed}`;
}

const NO_TRADE = {
  action: DEAL_ACTION.balance,
  entry: 0,
  positionId: 0n,
  symbol: "",
  volume: 0n,
  volumeClosed: 0n,
  swapMinor: 0n,
  commissionMinor: 0n,
  feeMinor: 0n,
};

/** The same of a deal as its log has it. The platform's time of it is not known while only an answer has named the deal. */
export function describeBooked(
  { amountMinor, serverMsc, trade }: BookedDeal,
  shown?: Pick<Deal, "serverTimeMs">,
): string {
  const serverTimeMs = serverMsc === null ? (shown?.serverTimeMs ?? 0) : Number(serverMsc);
  return describeDeal({ ...(trade ?? { ...NO_TRADE, profitMinor: amountMinor }), serverTimeMs });
}
