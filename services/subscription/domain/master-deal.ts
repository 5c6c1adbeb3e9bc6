import type { PoolDeal } from "./pool/allocate-deal.ts";

/** A deal of a Master's trader from platform's log. Amounts in cents. */
export type MasterDeal = {
  readonly masterLogin: string;
  /** Log position on the Master. */
  readonly number: bigint;
  readonly dealId: bigint;
  readonly dealAt: Date;
  /** Change of the balance. */
  readonly amount: bigint;
  /** The codes of MetaTrader 5 (ENUM_DEAL_TYPE, ENUM_DEAL_ENTRY). */
  readonly action: number;
  readonly entry: number;
  readonly positionId: bigint;
  /** Lots in units of 1e-8. */
  readonly volume: bigint;
  readonly volumeClosed: bigint;
  readonly profit: bigint;
  readonly swap: bigint;
};

const BUY = 0;
const SELL = 1;
const CANCELLED_ACTIONS = new Set([13, 14]);
const STOP_OUT_COMPENSATION = 19;
const AGENT_COMMISSIONS = new Set([10, 11, 18]);
/** By the MetaTrader entry code: in, out, in/out (reversal), out by an opposite position. */
const KIND_OF_ENTRY: readonly PoolDeal["kind"][] = ["entry", "exit", "reversal", "exit"];

export function poolDealOf(deal: MasterDeal): PoolDeal {
  const { positionId, volume, volumeClosed, amount: result } = deal;
  return { kind: kindOf(deal), positionId, volume, volumeClosed, result };
}

/**
 * A deal with a result to allocate: it changed the balance, or it reduced a position and so releases attributed result.
 */
export function isResult(deal: MasterDeal): boolean {
  const kind = kindOf(deal);
  return deal.amount !== 0n || kind === "exit" || kind === "reversal";
}

/** The deal cancels an earlier one (MetaTrader: buy or sell cancelled); an operator decides in manual review. */
export function isCancelled({ action }: MasterDeal): boolean {
  return CANCELLED_ACTIONS.has(action);
}

/** Income of an agent from the trades of other customers: no result of the pool on the same login. */
export function isAgentCommission({ action }: Pick<MasterDeal, "action">): boolean {
  return AGENT_COMMISSIONS.has(action);
}

/** The platform gives back what a stop-out has taken from the account beyond its balance. */
export function isCompensation({ action, amount }: Pick<MasterDeal, "action" | "amount">): boolean {
  return action === STOP_OUT_COMPENSATION && amount > 0n;
}

/** The part of the deal's result that was floating before, in cents. */
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
