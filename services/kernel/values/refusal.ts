/** The statuses of a refusal: the closed set of proto/pamm/common/v1/error.proto. */
export const REFUSAL_STATUSES = [
  "invalid",
  "not_found",
  "conflict",
  "unavailable",
  "rejected",
  "unknown_outcome",
  "forbidden",
  "busy",
  "internal",
] as const;

export type RefusalStatus = (typeof REFUSAL_STATUSES)[number];

/** What is known about a failed command: it was not executed and will not be, or it may have been executed. */
export type RefusalOutcome = "not_executed" | "unknown";

/** One wrong field of a request. */
export type FieldError = { readonly field: string; readonly code: string; readonly message: string };

export type RefusalExtra = {
  /** Facts that belong to the code, for example required and actual. */
  readonly details?: Readonly<Record<string, string>>;
  /** All invalid fields of the request. */
  readonly errors?: readonly FieldError[];
  /** Set on commands that move money or create accounts. */
  readonly outcome?: RefusalOutcome | undefined;
  /** The operation that the refusal is about, or that blocks the request. */
  readonly operationId?: string | undefined;
  /** A retry makes sense after this time. */
  readonly retryAfterMs?: number | undefined;
};

export type RefusalFacts = RefusalExtra & {
  readonly code: string;
  readonly status: RefusalStatus;
  readonly message: string;
};

/** Most transient failures are over after a second; a caller that waits longer gains nothing. */
export const RETRY_AFTER_MS = 1_000;
/** A lock or a full queue is usually available again after a fraction of a second. */
export const BUSY_RETRY_AFTER_MS = 250;
/** A process that was killed answers again within this time: "Starts after a crash" in docs/performance.md. */
export const RESTART_RETRY_AFTER_MS = 3_000;

/** An expected "no", part of a contract. Thrown by rules and handlers; every other throw is a fault. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: string;
  readonly status: RefusalStatus;
  readonly details: Readonly<Record<string, string>>;
  readonly errors: readonly FieldError[];
  readonly outcome: RefusalOutcome | undefined;
  readonly operationId: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(facts: RefusalFacts) {
    super(facts.message);
    this.code = facts.code;
    this.status = facts.status;
    this.details = facts.details ?? {};
    this.errors = facts.errors ?? [];
    this.outcome = facts.outcome;
    this.operationId = facts.operationId;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

function factsOf(refusal: Refusal): RefusalFacts {
  const { code, status, message, details, errors, outcome, operationId, retryAfterMs } = refusal;
  return { code, status, message, details, errors, outcome, operationId, retryAfterMs };
}

/** A refusal as it is stored, so that a repeated request gets the same answer: `new Refusal(...)` reads it. */
export function recordedAs(refusal: Refusal): string {
  return JSON.stringify(factsOf(refusal));
}

/** The refusal with some facts that only the service that passes it on knows. */
export function restated(refusal: Refusal, facts: Partial<RefusalFacts>): Refusal {
  return new Refusal({ ...factsOf(refusal), ...facts });
}

export type Refusals<Code extends string> = {
  /** Creates the refusal; the caller throws it. */
  readonly refuse: (code: Code, message: string, extra?: RefusalExtra) => Refusal;
  /** The whole list, for tests and for documentation. */
  readonly refusals: Readonly<Record<Code, RefusalStatus>>;
};

/** The closed list of refusals of one service: `export const { refuse, refusals } = refusalsOf({ ... })`. */
export function refusalsOf<const Table extends Readonly<Record<string, RefusalStatus>>>(
  table: Table,
): Refusals<keyof Table & string> {
  return {
    refuse: (code, message, extra) => new Refusal({ ...extra, code, status: table[code] as RefusalStatus, message }),
    refusals: table,
  };
}
