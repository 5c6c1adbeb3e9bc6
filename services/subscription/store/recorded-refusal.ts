import { Refusal, type RefusalOutcome, type RefusalStatus } from "#kernel/refusal.ts";

/** A refusal as it is stored, so that a repeated request gets the same answer. */
export type RecordedRefusal = {
  readonly code: string;
  readonly status: RefusalStatus;
  readonly message: string;
  readonly details: Readonly<Record<string, string>>;
  readonly outcome?: RefusalOutcome;
  readonly retryAfterMs?: number;
};

export function recordedAs({ code, status, message, details, outcome, retryAfterMs }: Refusal): string {
  return JSON.stringify({ code, status, message, details, outcome, retryAfterMs } satisfies {
    [Key in keyof RecordedRefusal]: RecordedRefusal[Key] | undefined;
  });
}

export function fromRecord(recorded: RecordedRefusal): Refusal {
  return new Refusal(recorded);
}
