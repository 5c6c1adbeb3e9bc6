import type { Labels } from "#kernel/labels.ts";
import type { Money } from "#kernel/money.ts";
import type { Refusal } from "#kernel/refusal.ts";
import type { DepositDecision } from "./deposit.ts";
import type { DuplicateRule } from "./duplicate.ts";
import type { ClientKey } from "./client-key.ts";
import type { Queue } from "./queue.ts";

/**
 * RECORDED: platform may have been called. LEAVING: the account lock is held and the pool decides. PAYING: the amounts are
 * decided, and the due fees are collected before the payout; from here on the saga is always completed. POSTED and REFUSED
 * are final.
 */
export type CashflowState = "RECORDED" | "LEAVING" | "PAYING" | "POSTED" | "REFUSED";

/** The last outcome that platform reported while it is not final. */
export type Doubt = "UNKNOWN" | "REVIEW";

export type NewCashflow = {
  readonly operationId: string;
  readonly action: "deposit" | "withdraw";
  readonly login: string;
  readonly amount: Money;
  readonly comment: string;
  /** What its client calls it; undefined without. */
  readonly labels?: Labels | undefined;
  readonly deadline: Date;
  readonly at: Date;
  /** Undefined when duplicates cannot be distinguished. */
  readonly duplicates: DuplicateRule | undefined;
  /** Undefined for a request without an Idempotency-Key. */
  readonly clientKey: ClientKey | undefined;
  /** The minimum that a deposit was decided with. Undefined for a withdrawal. */
  readonly decision: DepositDecision | undefined;
  /** Undefined for an operation that does not wait until the Master is flat. */
  readonly queueUntil?: Date | undefined;
};

export type Cashflow = Omit<NewCashflow, "at" | "duplicates" | "clientKey" | "queueUntil"> & {
  readonly queue?: Queue | undefined;
  readonly id: bigint;
  readonly state: CashflowState;
  readonly doubt: Doubt | undefined;
  readonly dealId: bigint | undefined;
  /** Ticket of a duplicate that was executed shortly before. */
  readonly possibleDuplicateOf: bigint | undefined;
  readonly refusal: Refusal | undefined;
  readonly createdAt: Date;
  readonly finishedAt: Date | undefined;
};

/** Key of the one transfer of a deposit. */
export function depositKey({ operationId }: Pick<Cashflow, "operationId">): string {
  return `funding:deposit:${operationId}`;
}

/** Key of the payout of a withdrawal, the same for all tries. */
export function payoutKey({ operationId }: Pick<Cashflow, "operationId">): string {
  return `funding:payout:${operationId}`;
}

/** Key under which platform has recorded a deposit or withdrawal that it has imported. */
export function importedKey(dealId: bigint): string {
  return `imported:${dealId}`;
}

/** Key under which the pool decides a withdrawal. */
export function withdrawalKey({ operationId }: Pick<Cashflow, "operationId">): string {
  return `funding:withdrawal:${operationId}`;
}

/** The operation that a key of a transfer or of fees names, by its id or by the deal that was imported; undefined for keys of other services. */
export function namedByKey(
  key: string,
): { readonly operationId: string } | { readonly importedDeal: bigint } | undefined {
  const [, operationId] = /^funding:(?:deposit|payout|withdrawal):(.+)$/.exec(key) ?? [];
  if (operationId !== undefined) return { operationId };
  const [, deal] = /^imported:(\d{1,18})$/.exec(key) ?? [];
  return deal === undefined ? undefined : { importedDeal: BigInt(deal) };
}

/** Last part of the unique keys of the fees that a withdrawal collects. */
export function feeSuffix({ operationId }: Pick<Cashflow, "operationId">): string {
  return `WD${operationId}`;
}

/** Owner of the account lock in one try. */
export function lockOwnerOf(cashflow: Pick<Cashflow, "operationId">, attempt: number): string {
  return `${withdrawalKey(cashflow)}:${attempt}`;
}

/** PENDING: in progress, and its caller still waits. UNKNOWN: the deadline has passed without a final outcome. */
export type CurrentOutcome = "PENDING" | "EXECUTED" | "NOT_EXECUTED" | "UNKNOWN" | "REVIEW";

/** It waits until its Master is flat, or a try of the queue runs: no caller waits for it. */
export function isQueued({ state, queue }: Pick<Cashflow, "state" | "queue">): boolean {
  return wasQueued({ queue }) && state !== "POSTED" && state !== "REFUSED";
}

export function wasQueued({ queue }: Pick<Cashflow, "queue">): boolean {
  return queue !== undefined && queue.state !== "WANTED";
}

/** The recorded outcome of an operation. After its deadline an open one is unknown to its caller. */
export function currentOutcome(
  { state, doubt, deadline, queue }: Pick<Cashflow, "state" | "doubt" | "deadline" | "queue">,
  now: Date,
): CurrentOutcome {
  if (state === "POSTED") return "EXECUTED";
  if (state === "REFUSED") return "NOT_EXECUTED";
  return doubt ?? (deadline <= now && !wasQueued({ queue }) ? "UNKNOWN" : "PENDING");
}
