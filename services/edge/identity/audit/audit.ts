import { Counter } from "prom-client";
import { batchQueue } from "#kernel/batches/batch-queue.ts";
import { runJob } from "#kernel/jobs/job.ts";
import { createWakeSignal } from "#kernel/jobs/wake-signal.ts";
import type { Clock } from "#kernel/values/clock.ts";
import { HOUR_MS } from "#kernel/values/duration.ts";
import type { Log } from "#kernel/process/log.ts";
import { refuse } from "../../problems/refusals.ts";
import { limitedNetwork } from "../keys/addresses.ts";
import { createBuckets } from "../rate-limit.ts";

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

/** The method of the entry of a vote, which distinguishes it from the request that it belongs to. */
export const VOTE = "VOTE";
/** Not authenticated, not permitted, too many. */
export const REFUSED: ReadonlySet<number> = new Set([401, 403, 429]);

/** One statement per batch keeps the audit cheap; a crash loses at most the entries of one delay. */
const BATCH_SIZE = 500;
const BATCH_DELAY_MS = 200;
/** Limits the memory used while the database is unavailable. */
const MAX_WAITING = 20_000;
/** Short, because the entries wait in memory until the database is available again. */
const MAX_RETRY_MS = 1_000;

const dropped = new Counter({ name: "pamm_audit_dropped_total", help: "Audit entries that could not be written." });

/** `insert` writes all of a batch, or none of it. */
export function createAudit(
  insert: (entries: readonly AuditEntry[]) => Promise<void>,
  log: Log,
): Audit & AsyncDisposable {
  const waiting: AuditEntry[] = [];
  const wake = createWakeSignal();

  const durable = batchQueue<AuditEntry, undefined>({
    name: "write audit",
    maxItems: BATCH_SIZE,
    maxWaiting: MAX_WAITING,
    async run(entries) {
      await insert(entries);
      return entries.map(() => undefined);
    },
  });

  /** True while there is a whole batch more. */
  async function writeNext(): Promise<boolean> {
    const batch = waiting.slice(0, BATCH_SIZE);
    if (batch.length > 0) await insert(batch);
    waiting.splice(0, batch.length);
    return waiting.length >= BATCH_SIZE;
  }

  const job = runJob({
    name: "write access audit",
    everyMs: HOUR_MS,
    wake,
    minGapMs: BATCH_DELAY_MS,
    maxRetryMs: MAX_RETRY_MS,
    work: writeNext,
    log,
  });

  return {
    write: durable.add,
    note(entry) {
      if (waiting.length >= MAX_WAITING) return dropped.inc();
      waiting.push(entry);
      wake.notify();
    },
    async [Symbol.asyncDispose]() {
      await job[Symbol.asyncDispose]();
      try {
        while (waiting.length > 0) await writeNext();
      } catch {
        dropped.inc(waiting.length);
      }
    },
  };
}

/** Refuses when the entry cannot be written: what it is about is neither done nor answered then. */
export async function writeDurably(audit: Audit, entry: AuditEntry): Promise<void> {
  await audit.write(entry).catch((cause: unknown) => {
    const refusal = refuse("service_unavailable", "The access could not be audited. Nothing was done or returned.");
    throw Object.assign(refusal, { cause });
  });
}

/** Entries of one address or IPv6 network: enough to see what it tried. */
const OF_ADDRESS = { perSecond: 1, burst: 100 };
/** Entries of all addresses: an attack from many fills no disk. */
const OF_ALL = { perSecond: 10, burst: 1_000 };

const leftOut = new Counter({
  name: "pamm_audit_refusals_left_out_total",
  help: "Refused requests (401, 403, 429) that are not in the access audit, because their address or all addresses made too many.",
});

/** Whether a refused request is to be recorded. The number of records is bounded; pamm_http_problems_total counts all of them. */
export function refusedRequests(now: Clock): (address: string) => boolean {
  const [ofAddress, ofAll] = [createBuckets(OF_ADDRESS, now), createBuckets(OF_ALL, now)];
  return (address) => {
    const isRecorded = ofAddress.take(limitedNetwork(address)) === undefined && ofAll.take("all") === undefined;
    if (!isRecorded) leftOut.inc();
    return isRecorded;
  };
}
