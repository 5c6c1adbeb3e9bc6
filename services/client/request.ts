import { OPERATIONS } from "./gen/operations.ts";
import { NUMBERS } from "./gen/numbers.ts";
import { writeJson } from "./json.ts";
import type { OperationId } from "./types.ts";

/** The parts of a request, without the types that `Input` gives them. */
export type Parts = {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};

/** A request as it is sent, any number of times. */
export type PreparedRequest = {
  readonly operation: OperationId;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** How long the service may hold the answer back. */
  readonly waitMs: number;
};

export function prepare(
  operation: OperationId,
  { path = {}, query = {}, body }: Parts,
  headers: Readonly<Record<string, string>> = {},
): PreparedRequest {
  const { method, path: template } = OPERATIONS[operation];
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));
  const sent = Object.entries(query).filter(([, value]) => value !== undefined);
  const parameters = sent.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  const isJson = body !== undefined;
  return {
    operation,
    method,
    target: parameters.length === 0 ? filled : `${filled}?${parameters.join("&")}`,
    headers: { accept: "application/json", ...(isJson ? { "content-type": "application/json" } : {}), ...headers },
    body: isJson ? writeJson(body, NUMBERS[operation]?.body) : undefined,
    waitMs: Number(query["wait"] ?? 0) * 1_000,
  };
}
