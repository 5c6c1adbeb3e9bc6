import { batchQueue } from "#kernel/batch-queue.ts";
import type { Log } from "#kernel/log.ts";
import { Counter } from "prom-client";

/** The caller, its request and the outcome, without any value. */
export type AuditEntry = {
  readonly at: Date;
  readonly requestId: string;
  /** Null when the key was not valid. */
  readonly keyId: string | null;
  readonly client: string | null;
  readonly address: string;
  readonly method: string;
  /** Pattern of the route, not the path of the request. */
  readonly route: string;
  readonly operationId: string | null;
  readonly decision: "allowed" | "denied";
  readonly status: number;
  readonly code: string | null;
};

export type Audit = {
  /** Resolves when the entry is durable. */
  readonly write: (entry: AuditEntry) => Promise<void>;
  /** Written within a moment, in a batch. */
  readonly note: (entry: AuditEntry) => void;
};

export type AuditWriter = Audit & AsyncDisposable;

/** One statement per batch keeps the audit cheap; a crash loses at most the entries of one delay. */
const BATCH_SIZE = 500;
const BATCH_DELAY_MS = 200;
/** Limits the memory used while the database is unavailable. */
const MAX_WAITING = 20_000;
/** Short, because the entries wait in memory until the database is available again. */
const RETRY_DELAY_MS = 1_000;

const dropped = new Counter({ name: "pamm_audit_dropped_total", help: "Audit entries that could not be written." });

/** `insert` writes all of a batch, or none of it. */
export function createAudit(insert: (entries: readonly AuditEntry[]) => Promise<void>, log: Log): AuditWriter {
  const waiting: AuditEntry[] = [];
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const durable = batchQueue<AuditEntry, undefined>({
    name: "write audit",
    maxItems: BATCH_SIZE,
    maxWaiting: MAX_WAITING,
    async run(entries) {
      await insert(entries);
      return entries.map(() => undefined);
    },
  });

  async function writeBatches(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_SIZE);
      await insert(batch);
      waiting.splice(0, batch.length);
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeBatches()
      .catch((error: unknown) => {
        log.error("access audit write failed, retry scheduled", { count: waiting.length, error });
        schedule(RETRY_DELAY_MS);
      })
      .finally(() => (writing = undefined));
    return writing;
  }

  function schedule(delayMs: number): void {
    timer ??= setTimeout(() => void flush(), delayMs);
    timer.unref();
  }

  return {
    write: durable.add,
    note(entry) {
      if (waiting.length >= MAX_WAITING) {
        dropped.inc();
        return;
      }
      waiting.push(entry);
      if (waiting.length >= BATCH_SIZE) void flush();
      else schedule(BATCH_DELAY_MS);
    },
    async [Symbol.asyncDispose]() {
      await flush();
      clearTimeout(timer);
      if (waiting.length > 0) dropped.inc(waiting.length);
    },
  };
}
