import type { Log } from "#kernel/process/log.ts";
import { MINUTE_MS } from "#kernel/values/duration.ts";
import { Mt5Error } from "./errors.ts";
import type { JsonValue } from "./http/json.ts";
import { rowsOf } from "./lists.ts";
import type { Reader } from "./reader.ts";
import { RETCODE, SELECTOR_REFUSED } from "./retcodes.ts";

/** What a server answers to a request for the records of several accounts or tickets. */
export type BatchAnswer =
  | { readonly kind: "rows"; readonly rows: readonly JsonValue[] }
  /** Nothing was found; or one of the accounts does not exist; or the server does not select so. */
  | { readonly kind: "not_found"; readonly reason: string }
  /** More rows than the server returns at once. */
  | { readonly kind: "too_many" }
  /** The server, or the rights of the manager, do not allow such a request. */
  | { readonly kind: "refused"; readonly reason: string };

/** Of servers and proxies that do not know a command. */
const UNKNOWN_COMMAND: ReadonlySet<number | undefined> = new Set([400, 404, 405, 501]);

export async function readBatch(
  { read }: { readonly read: Reader },
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<BatchAnswer> {
  try {
    const envelope = await read({ method: "GET", path, query });
    const { code, text } = envelope;
    if (code === RETCODE.limitReached) return { kind: "too_many" };
    if (code === RETCODE.notFound) return { kind: "not_found", reason: `${code} ${text}` };
    if (SELECTOR_REFUSED.has(code)) return { kind: "refused", reason: `${code} ${text}` };
    return { kind: "rows", rows: rowsOf(envelope) };
  } catch (error) {
    if (error instanceof Mt5Error && isRefusal(error)) return { kind: "refused", reason: error.message };
    throw error;
  }
}

function isRefusal({ problem, status }: Mt5Error): boolean {
  return problem === "forbidden" || (problem === "http_status" && UNKNOWN_COMMAND.has(status));
}

/** What is known about the requests for several accounts that this server answers. */
export type BatchSupport = {
  /** The server has answered such a request with rows: it knows the command, so "not found" means that there are none. */
  readonly hasShownRows: (path: string) => boolean;
  readonly noteRows: (path: string) => void;
  /** Logged once in some minutes: each account costs its own requests then. */
  readonly noteRefused: (path: string, reason: string) => void;
};

const LOG_EVERY_MS = 5 * MINUTE_MS;

export function createBatchSupport(log: Log): BatchSupport {
  const shown = new Set<string>();
  const loggedAtMs = new Map<string, number>();
  return {
    hasShownRows: (path) => shown.has(path),
    noteRows: (path) => void shown.add(path),
    noteRefused(path, reason) {
      const lastMs = loggedAtMs.get(path);
      if (lastMs !== undefined && performance.now() - lastMs < LOG_EVERY_MS) return;
      loggedAtMs.set(path, performance.now());
      log.warn("platform does not answer for several accounts at once, each is read alone", { method: path, reason });
    },
  };
}
