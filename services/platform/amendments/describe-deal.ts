import { formatMinor } from "#kernel/money.ts";
import { type Deal, DEAL_ACTION, effectOf, isBalanceOperation } from "../mt5/deals.ts";
import { isWithoutEffect } from "../protocol/history/explain-deal.ts";
import type { BookedDeal } from "../store/logged-deals.ts";

type Described = Pick<
  Deal,
  | "action"
  | "entry"
  | "position"
  | "symbol"
  | "volume"
  | "volumeClosed"
  | "profitMinor"
  | "swapMinor"
  | "commissionMinor"
  | "feeMinor"
  | "serverTimeMs"
>;

export const NO_DEAL = "no such deal";

/**
 * A deal as text: two deals have the same text when they change balance and positions alike. Comments are not part of it: they decide
 * nothing once a deal is recorded, and the broker may edit them.
 */
export function describeDeal(deal: Described): string {
  const { action, entry, position, symbol, volume, volumeClosed, serverTimeMs } = deal;
  const at = serverTimeMs === 0 ? "" : ` at ${serverTimeMs}`;
  if (isWithoutEffect(deal)) return `nothing on the balance, action ${action}${at}`;
  const effect = formatMinor(effectOf(deal));
  if (isBalanceOperation(deal)) return `${effect} as a balance operation${at}`;
  const { profitMinor, swapMinor, commissionMinor, feeMinor } = deal;
  const parts = [profitMinor, swapMinor, commissionMinor, feeMinor].map(formatMinor).join(", ");
  return `${effect} (${parts}) by action ${action}${at}, entry ${entry} of position ${position} ${symbol}, volume ${volume} closing ${volumeClosed}`;
}

/** The same of a deal as its log has it. The platform's time of it is not known while only an answer has named the deal. */
export function describeBooked(
  { amountMinor, serverMsc, trade }: BookedDeal,
  shown?: Pick<Deal, "serverTimeMs">,
): string {
  return describeDeal({
    action: trade?.action ?? DEAL_ACTION.balance,
    entry: trade?.entry ?? 0,
    position: trade?.positionId ?? 0n,
    symbol: trade?.symbol ?? "",
    volume: trade?.volume ?? 0n,
    volumeClosed: trade?.volumeClosed ?? 0n,
    profitMinor: trade?.profit.minor ?? amountMinor,
    swapMinor: trade?.swap.minor ?? 0n,
    commissionMinor: trade?.commission.minor ?? 0n,
    feeMinor: trade?.fee.minor ?? 0n,
    serverTimeMs: serverMsc === undefined ? (shown?.serverTimeMs ?? 0) : Number(serverMsc),
  });
}
