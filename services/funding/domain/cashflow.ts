import type { Money } from "#kernel/money.ts";
import type { Refusal } from "#kernel/refusal.ts";
import type { DuplicateRule } from "./duplicate.ts";

/**
 * RECORDED: written down, the platform may have been asked. LEAVING: the account lock is held and the pool is asked. COLLECTING:
 * what may be paid is decided, and what is owed is being taken; from here the saga is finished, whatever it takes.
 * PAYING: everything owed was taken. POSTED and REFUSED are final.
 */
export type CashflowState = "RECORDED" | "LEAVING" | "COLLECTING" | "PAYING" | "POSTED" | "REFUSED";

/** What the platform said last while it is not final. */
export type Doubt = "UNKNOWN" | "REVIEW";

export type NewCashflow = {
  readonly operationId: string;
  readonly action: "deposit" | "withdraw";
  readonly login: string;
  readonly amount: Money;
  readonly comment: string;
  readonly deadline: Date;
  readonly at: Date;
  /** Undefined where nothing tells duplicates apart. */
  readonly duplicates: DuplicateRule | undefined;
};

export type Cashflow = Omit<NewCashflow, "at" | "duplicates"> & {
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
export function depositKey({ id }: Pick<Cashflow, "id">): string {
  return `funding:deposit:${id}`;
}

/** Key of the transfer that pays a withdrawal out, whatever try it is. */
export function payoutKey({ id }: Pick<Cashflow, "id">): string {
  return `funding:payout:${id}`;
}

/** Key under which the pool decides a withdrawal. */
export function withdrawalKey({ id }: Pick<Cashflow, "id">): string {
  return `funding:withdrawal:${id}`;
}

/** Ends the unique keys of the fees that a withdrawal takes. */
export function feeSuffix({ operationId }: Pick<Cashflow, "operationId">): string {
  return `WD${operationId}`;
}

/** Who holds the account lock in one try. */
export function lockOwnerOf(cashflow: Pick<Cashflow, "id">, attempt: number): string {
  return `${withdrawalKey(cashflow)}:${attempt}`;
}
