import type { PoolDeal } from "./pool/allocate-deal.ts";

/** A deal of a Master's trader, as platform's log tells it. Amounts in cents. */
export type MasterDeal = {
  readonly masterLogin: string;
  /** Of its entry in the Master's log. */
  readonly number: bigint;
  readonly entryId: bigint;
  readonly dealId: bigint;
  readonly dealAt: Date;
  /** What it changed on the balance. */
  readonly amount: bigint;
  /** MetaTrader's numbers for both. */
  readonly action: number;
  readonly entry: number;
  readonly positionId: bigint;
  readonly symbol: string;
  /** Lots in units of 1e-8. */
  readonly volume: bigint;
  readonly volumeClosed: bigint;
  readonly profit: bigint;
  readonly swap: bigint;
  readonly commission: bigint;
  readonly fee: bigint;
};

const BUY = 0;
const SELL = 1;
const CANCELLED_ACTIONS = new Set([13, 14]);
/** In, out, reversal, closed by an opposite position. */
const KIND_OF_ENTRY: readonly PoolDeal["kind"][] = ["entry", "exit", "reversal", "exit"];

export function poolDealOf(deal: MasterDeal): PoolDeal {
  const { positionId, symbol, volume, volumeClosed, amount: result } = deal;
  return { kind: kindOf(deal), positionId, symbol, volume, volumeClosed, result };
}

/** Whether it has to be split: it changed the balance, or it reduced a position and so releases what was attributed. */
export function isResult(deal: MasterDeal): boolean {
  const kind = kindOf(deal);
  return deal.amount !== 0n || kind === "exit" || kind === "reversal";
}

/** A deal that was taken back changes the past; what follows is for manual review to say. */
export function isCancelled({ action }: MasterDeal): boolean {
  return CANCELLED_ACTIONS.has(action);
}

/** What floated in it and is realised now. */
export function realisedFloating({ profit, swap }: MasterDeal): bigint {
  return profit + swap;
}

export function isReversal(deal: MasterDeal): boolean {
  return kindOf(deal) === "reversal";
}

function kindOf({ action, entry }: MasterDeal): PoolDeal["kind"] {
  if (action !== BUY && action !== SELL) return "charge";
  return KIND_OF_ENTRY[entry] ?? "charge";
}
