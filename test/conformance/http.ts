import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

/** JSON whose integers are a bigint, so that they are distinguished from other numbers and keep their digits. */
export type Json = string | boolean | null | bigint | number | readonly Json[] | { readonly [name: string]: Json };

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json | undefined;
  /** Text of the problem code; empty without one. */
  readonly code: string;
};

export type Send = (method: string, path: string, body?: object) => Promise<Answer>;

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;
// The type library lacks the reviver's third argument.
const parse = JSON.parse as (text: string, reviver: Reviver) => Json;

/** After these the same request under its key brings the outcome. */
const PASSING: readonly string[] = [
  "account_busy",
  "allocation_in_progress",
  "operation_in_progress",
  "outcome_unknown",
  "rate_limited",
  "request_timeout",
  "service_unavailable",
];
const PAUSE_MS = 300;
const REPEAT_WITHIN_MS = 30_000;

/** Sends each command under an Idempotency-Key, so that what passes by itself is repeated and not taken for a difference. */
export function sender(url: string, key: string | undefined, fetch: typeof globalThis.fetch): Send {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return async (method, path, body) => {
    const command = method === "GET" ? {} : { "idempotency-key": randomUUID() };
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const init = {
      method,
      // A server may close an idle connection just when a request is sent on it.
      headers: { connection: "close", ...authorization, ...command, ...json },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    for (const until = Date.now() + REPEAT_WITHIN_MS; ; await sleep(PAUSE_MS)) {
      const answer = await answerOf(await fetch(url + path, init));
      if (!PASSING.includes(answer.code) || Date.now() > until) return answer;
    }
  };
}

async function answerOf(response: Response): Promise<Answer> {
  const body = readJson(await response.text());
  const code = memberOf(body, "code");
  return { status: response.status, headers: response.headers, body, code: typeof code === "string" ? code : "" };
}

export function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return (value as { readonly [member: string]: Json })[name];
}

function readJson(text: string): Json | undefined {
  try {
    return parse(text, (_, value, { source = "" }) => {
      return typeof value === "number" && /^-?\d+$/.test(source) ? BigInt(source) : value;
    });
  } catch {
    return undefined;
  }
}
