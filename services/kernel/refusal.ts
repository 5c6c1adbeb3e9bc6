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

/**
 * The refusal of whatever waits for an outcome that the platform has not answered: it is found in its history, after a quiet period of minutes. Callers
 * branch on the reason.
 */
export const OUTCOME_WAITED_FOR = {
  message:
    "The outcome of an earlier operation on this account is not known yet and is being determined, which can take some minutes. Nothing was executed.",
  extra: { outcome: "not_executed", details: { reason: "outcome_unknown" }, retryAfterMs: 30_000 },
} as const satisfies { readonly message: string; readonly extra: RefusalExtra };

export function waitsForOutcome({ details }: Pick<RefusalExtra, "details">): boolean {
  return details?.["reason"] === OUTCOME_WAITED_FOR.extra.details.reason;
}

/**
 * The refusal of a command on an account that no other one has, while the trading platform does not answer, or shows a balance that its deals do not
 * add up to. The reason is for services; callers need none.
 */
export const HISTORY_WAITED_FOR = {
  message:
    "The balance and the history of this account cannot be read completely on the trading platform at the moment, and are read again by themselves. Retry in some seconds; operators find what lasts longer in the reviews and breaks of the account. Nothing was executed.",
  extra: { outcome: "not_executed", details: { reason: "history_unread" }, retryAfterMs: RETRY_AFTER_MS },
} as const satisfies { readonly message: string; readonly extra: RefusalExtra };

/** The refusal of a command whose time was over before it was looked whether its account is free. The reason is for services, as above. */
export const TURN_WAITED_FOR = {
  message:
    "So many requests came at the same time that this one did not begin before its time was over. Nothing was executed. Send the request again in a second.",
  extra: { outcome: "not_executed", details: { reason: "no_turn" }, retryAfterMs: RETRY_AFTER_MS },
} as const satisfies { readonly message: string; readonly extra: RefusalExtra };

/** The message for a refusal that no other command is the reason of. A service that passes it on to callers leaves the reason out. */
export function waitsForNoCommand({
  details,
  message,
}: Pick<RefusalExtra, "details"> & { readonly message?: string }): string | undefined {
  const reasons = [HISTORY_WAITED_FOR, TURN_WAITED_FOR];
  return reasons.find(({ extra, message: own }) => extra.details.reason === details?.["reason"] || own === message)
    ?.message;
}

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
