import type { Labels } from "#kernel/values/labels.ts";
import type { QueueState } from "#catalogue/queue-until-flat.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import type { ClientKey, DuplicateRule } from "./duplicate.ts";

/** RECORDED: the service that carries it out may have been called: platform a deposit, subscription a withdrawal. POSTED and REFUSED are final. */
export type CashflowState = "RECORDED" | "POSTED" | "REFUSED";

/** The last outcome that this service reported while it is not final. */
export type Doubt = "UNKNOWN" | "REVIEW";

/** What a client asks for. */
type Request = {
  readonly operationId: string;
  readonly action: "deposit" | "withdraw";
  readonly login: string;
  /** Cents. */
  readonly amount: bigint;
  readonly comment: string;
  /** What its client calls it; undefined without. */
  readonly labels?: Labels | undefined;
  readonly deadline: Date;
  /** Until when its last try begins, of a withdrawal that may wait until the Master is flat. */
  readonly queueUntil?: Date | undefined;
};

/** What a deposit is decided with. */
export type InvestorFacts = {
  /** Minimum deposit of the Master that the Investor follows, in cents; undefined when it follows none. */
  readonly masterMinimum: bigint | undefined;
  /** The Master that the Investor follows. */
  readonly masterLogin?: string | undefined;
};

export type NewCashflow = Request & {
  readonly at: Date;
  /** Undefined when duplicates cannot be distinguished. */
  readonly duplicates: DuplicateRule | undefined;
  /** Undefined for a request without an Idempotency-Key. */
  readonly clientKey: ClientKey | undefined;
  /**
   * Facts that the owners have just answered; without them those of the feeds count. The first deposit of an Investor needs them: its
   * answer says whether there is a Master, and a feed may not have brought the newest assignment yet.
   */
  readonly asked?: InvestorFacts | undefined;
};

/** A row of the table. */
export type Cashflow = Request & {
  readonly id: bigint;
  /** Whom the Investor followed when it was recorded; undefined without a Master. */
  readonly masterLogin: string | undefined;
  /**
   * Of a deposit: whether it was the first one under an active Master, and the minimum of that in cents. It is looked at, and never refused: the
   * Investor met the minimum when it was assigned, and a minimum that was changed since is for later assignments.
   */
  readonly firstDepositChecked: boolean | undefined;
  readonly minDeposit: bigint | undefined;
  readonly state: CashflowState;
  readonly doubt: Doubt | undefined;
  readonly dealId: bigint | undefined;
  /** Ticket of a duplicate that was executed shortly before. */
  readonly possibleDuplicateOf: bigint | undefined;
  readonly refusal: Refusal | undefined;
  /** Of one that may wait until the Master is flat, as subscription has last reported it. The state in which it has ended stays. */
  readonly queueState: QueueState | undefined;
  readonly createdAt: Date;
  readonly finishedAt: Date | undefined;
  /** The database had lost it; platform has imported its deal. */
  readonly isImported: boolean;
};

/** Key of its transfer: of a deposit, of the payout and the fees of a withdrawal, or of what platform has imported. */
export function transferKeyOf({
  action,
  operationId,
  isImported,
  dealId,
}: Pick<Cashflow, "action" | "operationId" | "isImported" | "dealId">): string {
  if (isImported) return `imported:${dealId}`;
  return action === "deposit" ? `funding:deposit:${operationId}` : `withdrawal:${operationId}`;
}

/** The operation that a key of a transfer or of fees names, by its id or by the deal that was imported; undefined for keys of other services. */
export function namedByKey(
  key: string,
): { readonly operationId: string } | { readonly importedDeal: bigint } | undefined {
  const [, operationId] = /^(?:funding:deposit|withdrawal):(.+)$/.exec(key) ?? [];
  if (operationId !== undefined) return { operationId };
  const [, deal] = /^imported:(\d{1,18})$/.exec(key) ?? [];
  return deal === undefined ? undefined : { importedDeal: BigInt(deal) };
}

/** PENDING: in progress, and its caller still waits. UNKNOWN: the deadline has passed without a final outcome. */
export type CurrentOutcome = "PENDING" | "EXECUTED" | "NOT_EXECUTED" | "UNKNOWN" | "REVIEW";

/** The recorded outcome of an operation. After its deadline an open one is unknown to its caller; for one that waits until its Master is flat no caller waits. */
export function currentOutcome(
  { state, doubt, deadline, queueState = "WANTED" }: Pick<Cashflow, "state" | "doubt" | "deadline" | "queueState">,
  now: Date,
): CurrentOutcome {
  if (state === "POSTED") return "EXECUTED";
  if (state === "REFUSED") return "NOT_EXECUTED";
  return doubt ?? (deadline <= now && queueState === "WANTED" ? "UNKNOWN" : "PENDING");
}
