import { type FieldError, Refusal, type RefusalExtra, RETRY_AFTER_MS } from "#kernel/values/refusal.ts";
import { jsonNumber } from "../wire/number.ts";
import type { Entry } from "./entry.ts";
import { type Intent, type Verdict, verdictOf, verdictOfFault } from "./http-status.ts";
import { isProblemCode, type ProblemCode, PROBLEMS, problemType } from "./problems.ts";
import { refuse } from "./refusals.ts";

export const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

/** What is known about the request that failed. */
export type RequestFacts = {
  readonly requestId: string;
  /** Path without the query, which may contain personal data. */
  readonly path: string;
  readonly intent: Intent;
  /** Created for commands. */
  readonly operationId: string | undefined;
  /** A service may have acted on it. */
  readonly wasSent: boolean;
  /** How its caller finds out what became of it, when the ledger of operations does not have it. */
  readonly lookUp: string | undefined;
  /** It has an Idempotency-Key that was not looked up, so it may be a repetition. */
  readonly mayHaveComeBefore: boolean;
};

export type Problem = {
  readonly status: number;
  readonly code: ProblemCode;
  readonly retryAfterSeconds: number | undefined;
  readonly body: Readonly<Record<string, unknown>>;
};

const inLedger = (operationId = "{operation_id}"): string =>
  `Look it up at GET /api/v1/operations/${operationId}, or repeat it with the same Idempotency-Key, before sending a new one.`;

export function problemOf(error: unknown, facts: RequestFacts): Problem {
  const refusal = error instanceof Refusal ? error : refusalOfFramework(error);
  const verdict =
    refusal === undefined ? verdictOfFault(facts.intent, facts.wasSent) : verdictOf(refusal, facts.intent);
  return problemFor(verdict, refusal, facts);
}

function problemFor({ code, status, outcome }: Verdict, refusal: Refusal | undefined, facts: RequestFacts): Problem {
  const { title, retry, poll, detail, members = {} } = PROBLEMS[code];
  const isRetryable = retry !== undefined && outcome !== "unknown";
  // This request was not executed, but an earlier one with its key may have been.
  const hidesOutcome = facts.mayHaveComeBefore && refusal?.outcome === undefined;
  const retryAfterMs = refusal?.retryAfterMs ?? (isRetryable || poll !== undefined ? RETRY_AFTER_MS : undefined);
  const isCommand = facts.intent === "command";
  const operationId =
    refusal?.operationId ?? (isCommand && status >= 500 && !hidesOutcome ? facts.operationId : undefined);
  return {
    status,
    code,
    retryAfterSeconds: retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1_000)),
    body: {
      type: problemType(code),
      title,
      status,
      detail:
        typeof detail === "function"
          ? detail(facts.lookUp ?? inLedger(operationId))
          : (detail ?? detailOf(code, refusal, title)),
      instance: facts.path,
      code,
      request_id: facts.requestId,
      retryable: isRetryable,
      ...(operationId === undefined ? {} : { operation_id: operationId }),
      ...(outcome === undefined || hidesOutcome ? {} : { outcome }),
      ...(refusal === undefined || refusal.errors.length === 0 ? {} : { errors: refusal.errors.map(plain) }),
      ...memberValues(members, refusal?.details ?? {}),
    },
  };
}

/** One sentence for this occurrence; of an invalid request, which fields are invalid and why. */
function detailOf(code: ProblemCode, refusal: Refusal | undefined, title: string): string {
  if (code === "validation_failed" && refusal !== undefined && refusal.errors.length > 0) {
    return fieldsDetail(refusal.errors);
  }
  return refusal?.message ?? `${title}.`;
}

function fieldsDetail(errors: readonly FieldError[]): string {
  const count = errors.length === 1 ? "1 field is invalid" : `${errors.length} fields are invalid`;
  return `${count}: ${errors.map(({ message }) => message.replace(/\.$/, "")).join("; ")}.`;
}

function plain({ field, code, message }: FieldError): FieldError {
  return { field, code, message };
}

const INTEGER = /^(0|-?[1-9]\d*)$/;

/** Only the facts that the code is documented with; a service may send more of them for its log. */
function memberValues(
  members: NonNullable<Entry["members"]>,
  details: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, { example }] of Object.entries(members)) {
    const text = details[name];
    if (text === undefined) continue;
    values[name] = typeof example === "number" && INTEGER.test(text) ? jsonNumber(text) : text;
  }
  return values;
}

/** What the HTTP framework refuses before a route sees the request. */
const CODE_OF_FRAMEWORK = {
  FST_ERR_CTP_BODY_TOO_LARGE: "body_too_large",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "unsupported_media_type",
} as const;

function refusalOfFramework(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("statusCode" in error)) return undefined;
  if (typeof error.statusCode !== "number" || error.statusCode < 400 || error.statusCode >= 500) return undefined;
  const code = String(error.code);
  const known = Object.hasOwn(CODE_OF_FRAMEWORK, code)
    ? CODE_OF_FRAMEWORK[code as keyof typeof CODE_OF_FRAMEWORK]
    : "bad_request";
  return refuse(known, `${PROBLEMS[known].title}.`);
}

/** The refusal with all invalid fields. A code of fields names the problem if it is the only one; else it is validation_failed. */
export function invalid(errors: readonly FieldError[], extra: RefusalExtra = {}): Refusal {
  const [first, ...others] = new Set(errors.map(({ code }) => code));
  const code = others.length === 0 && isOfFields(first) ? first : "validation_failed";
  return refuse(code, fieldsDetail(errors), { ...extra, errors });
}

/** Some routes answer it because of a field that they have. */
function isOfFields(code = ""): code is ProblemCode {
  return isProblemCode(code) && Array.isArray(PROBLEMS[code].answered?.by);
}
