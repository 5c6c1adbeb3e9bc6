import { formatAmount, formatMinor, usd } from "#kernel/values/money.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import { refuse } from "../refusals.ts";
import { accountBusy } from "./lock-refusals.ts";
import { safetyStop } from "./safety-stop.ts";
import type { OpenSubscription } from "./decide-assignment.ts";

export type MasterFacts = {
  /** All deals of the Master are filed: balance and open positions on the platform equal those of the log. */
  readonly isComplete: boolean;
  readonly openPositions: number;
};

/**
 * What is known about a departure: a command asks for one part after the other, and a part that it does not know yet gives no reason. The
 * parts are in the sequence in which a command comes to know them.
 */
export type KnownOfDeparture = {
  /** The account of the Investor, and its log position when the account lock was acquired. */
  readonly account?: { readonly filedNumber: bigint; readonly heldNumber: bigint };
  /** Undefined outside a pool. */
  readonly pool?: { readonly masterLogin: string; readonly isStopped: boolean } | undefined;
  /** Credited to the Investor, mirror not applied yet. */
  readonly inbound?: bigint;
  readonly master?: MasterFacts | undefined;
  /** All deals, and the ended weeks, are allocated up to the log position of the Master, and no other departure is being decided there. */
  readonly isAllocated?: boolean;
  /** The share of the Investor at that position, after a strike. */
  readonly share?: { readonly isMoving: boolean; readonly pooled: bigint };
};

/** A pool is locked only for a moment, so this is shorter than the delay after a transient failure. */
const POOL_RETRY_AFTER_MS = 500;

export function allocationInProgress(message: string): Refusal {
  return refuse("allocation_in_progress", message, { outcome: "not_executed", retryAfterMs: POOL_RETRY_AFTER_MS });
}

export function masterUnreadable(): Refusal {
  return allocationInProgress(
    "The Master's account is read for its open positions and deals, and the trading platform has not answered in time. Nothing was executed. Send the request again in a second.",
  );
}

export function feeNotReady(): Refusal {
  return allocationInProgress(
    "The performance fee that is due first is not calculated yet, because the service for fees has not answered in time. Nothing was executed. Send the request again in a second.",
  );
}

/**
 * Everything for which an Investor cannot take capital out of a pool, or leave it, now. A command throws the first reason; once
 * the fee is crystallised, none is possible any more.
 */
export function departureReasons(known: KnownOfDeparture): readonly Refusal[] {
  const { account, pool, inbound = 0n, master, isAllocated = true, share } = known;
  const hasMoved = account !== undefined && account.filedNumber !== account.heldNumber;
  const isMoving = hasMoved || share?.isMoving === true;
  const openPositions = master?.openPositions ?? 0;
  const pooled = share?.pooled ?? 0n;
  const reasons = [
    isMoving
      ? accountBusy(
          "Money or a trade came to the Investor's account while it was being read. Nothing was executed. Send the request again in a second.",
        )
      : undefined,
    pool?.isStopped === true ? safetyStop(pool.masterLogin, "stopped") : undefined,
    inbound === 0n
      ? undefined
      : accountBusy(
          "Capital of this Investor is still being mirrored to the Master. It takes seconds. Nothing was executed. Send the request again in a second.",
        ),
    openPositions > 0 ? masterOpenPositions(openPositions) : undefined,
    master?.isComplete === false
      ? allocationInProgress(
          "The Master's latest deals are still being read from the trading platform, which takes seconds. Nothing was executed. Send the request again in a second.",
        )
      : undefined,
    isAllocated
      ? undefined
      : allocationInProgress(
          "The Master's latest deals are still being allocated to its Investors, which takes seconds. Nothing was executed. Send the request again in a second.",
        ),
    pooled < 0n ? investorDeficit(pooled) : undefined,
  ];
  return reasons.filter((reason) => reason !== undefined);
}

/** Withdrawals of one Investor that wait at the same time. */
export const MAX_WAITING_OF_INVESTOR = 20;

export function tooManyQueued(): Refusal {
  const message = `The Investor has ${MAX_WAITING_OF_INVESTOR} withdrawals that wait. Cancel one, or retry when the Master is flat.`;
  return refuse("too_many_queued", message, { outcome: "not_executed" });
}

/** Refuses for the first reason. */
export function checkDeparture(known: KnownOfDeparture): void {
  const [reason] = departureReasons(known);
  if (reason !== undefined) throw reason;
}

function masterOpenPositions(openPositions: number): Refusal {
  return refuse(
    "master_open_positions",
    `The Master has open positions: ${openPositions}. Retry when they are closed.`,
    {
      details: { open_positions: String(openPositions) },
      outcome: "not_executed",
    },
  );
}

function investorDeficit(pooled: bigint): Refusal {
  const share = formatAmount(usd(pooled));
  return refuse(
    "investor_deficit",
    `The Investor's share of the pool is ${share}. A compensation of the broker, or a decision of operators, has to cover it first.`,
    {
      details: { deficit: formatMinor(-pooled) },
      outcome: "not_executed",
    },
  );
}

export type Pair = Pick<OpenSubscription, "masterLogin" | "investorLogin">;

/** Why a subscription that is not ACTIVE cannot be left. */
export function unassignReasons({ id, status, ...pair }: OpenSubscription): readonly Refusal[] {
  if (status === "PAUSED") {
    const message = `${named(pair)} is already ending (subscription id ${id}).`;
    return [refuse("exit_in_progress", message, { outcome: "not_executed" })];
  }
  if (status === "CANCELLED") {
    const message = `${named(pair)} has ended (subscription id ${id}).`;
    return [refuse("subscription_not_active", message, { outcome: "not_executed" })];
  }
  return [];
}

export function neverAssigned({ masterLogin, investorLogin }: Pair): Refusal {
  const message = `Investor ${investorLogin} was never assigned to Master ${masterLogin}.`;
  return refuse("subscription_not_found", message, { outcome: "not_executed" });
}

/** Of one subscription one unassign waits. */
export function alreadyQueued(operationId: string): Refusal {
  const message = `An unassign of this subscription waits until the Master is flat (${operationId}).`;
  return refuse("operation_in_progress", message, { outcome: "not_executed", operationId });
}

function named({ masterLogin, investorLogin }: Pair): string {
  return `The subscription of Investor ${investorLogin} to Master ${masterLogin}`;
}
