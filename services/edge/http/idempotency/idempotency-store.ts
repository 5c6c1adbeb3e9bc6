import { batchQueue } from "#kernel/batches/batch-queue.ts";
import type { Clock } from "#kernel/values/clock.ts";
import type { Log } from "#kernel/process/log.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { keyInProgress, keyReused } from "#catalogue/key-refusals.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { isTransientFailure } from "#kernel/jobs/transient-failure.ts";
import { verdictOf } from "../../problems/http-status.ts";
import { refuse } from "../../problems/refusals.ts";
import {
  type AnsweredCommand,
  type CommandStatus,
  deleteCommand,
  findCommand,
  insertCommands,
  markAnswered,
  type NewCommand,
  type StoredCommand,
  takeOver,
} from "./store/idempotency-keys.ts";

/** A command that is executed at most once, however often its key is sent. */
export type ClaimRequest = Omit<NewCommand, "createdAt">;

/** The command to execute: the first one again, or a new one. */
export type Claim = {
  readonly commandId: string;
  readonly isRepeated: boolean;
  /** It succeeded before: the outcome of the repetition does not change that. */
  readonly wasDone: boolean;
};

export type IdempotencyStore = {
  /** How long a key is kept after its last answer. */
  readonly keptMs: number;
  /** Decides which command the key stands for. Refusals: idempotency_key_reused, operation_in_progress. */
  readonly claim: (request: ClaimRequest) => Promise<Claim>;
  /** Executes the command and records its outcome. */
  readonly execute: <T>(claim: Claim, work: () => Promise<T>) => Promise<T>;
};

/** A key that was lost to other requests this often is in use. */
const MAX_TRIES = 5;
/** A service was not reached by this attempt. An earlier attempt may have reached it, so these prove nothing then. */
const TRANSPORT_CODES = new Set(["service_unavailable", "deadline_exceeded", "busy"]);

/** A statement of so many rows takes a few milliseconds. */
const MAX_BATCH = 64;
/** As many as the largest number of requests in progress. */
const MAX_WAITING = 10_000;

/** Keys and outcomes that arrive while a statement runs are written by the next one; each is durable before it counts. */
function queuesOf(db: Queryable) {
  const options = {
    maxItems: MAX_BATCH,
    maxWaiting: MAX_WAITING,
    // The database has refused the statement, so nothing of it was written.
    maySplit: (error: unknown) => !isTransientFailure(error),
  };
  const inserts = batchQueue<NewCommand, { readonly isNew: boolean }>({
    name: "claim idempotency keys",
    ...options,
    // Of two requests with one key the second one waits for the row of the first.
    keyOf: ({ clientId, key }) => `${clientId} ${key}`,
    async run(fresh) {
      const inserted = await insertCommands(db, fresh);
      return fresh.map(({ commandId }) => ({ isNew: inserted.has(commandId) }));
    },
  });
  const outcomes = batchQueue<AnsweredCommand, undefined>({
    name: "record answered commands",
    ...options,
    keyOf: ({ commandId }) => commandId,
    async run(answered) {
      await markAnswered(db, answered);
      return answered.map(() => undefined);
    },
  });
  return { inserts, outcomes };
}

export function createIdempotencyStore(
  db: Queryable,
  { now, log, keptMs }: { readonly now: Clock; readonly log: Log; readonly keptMs: number },
): IdempotencyStore {
  const { inserts, outcomes } = queuesOf(db);
  return {
    keptMs,

    async claim(request) {
      try {
        return await claim(request);
      } catch (error) {
        if (error instanceof Refusal || !isTransientFailure(error)) throw error;
        throw Object.assign(refuse("service_unavailable", "The Idempotency-Key could not be recorded."), {
          cause: error,
        });
      }
    },

    async execute(claimed, work) {
      try {
        const result = await work();
        await record(claimed.commandId, "DONE");
        return result;
      } catch (error) {
        if (claimed.wasDone) throw isEnd(error, claimed) ? error : notRepeated(claimed.commandId);
        if (error instanceof Refusal && error.code === "idempotency_key_reused") {
          await forget(claimed.commandId);
          throw error;
        }
        const status = statusAfter(error, claimed);
        await record(claimed.commandId, status);
        throw claimed.isRepeated && status === "IN_PROGRESS" ? keyInProgress(claimed.commandId) : error;
      }
    },
  };

  async function claim(request: ClaimRequest): Promise<Claim> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { isNew } = await inserts.add({ ...request, createdAt: now() });
      if (isNew) return { commandId: request.commandId, isRepeated: false, wasDone: false };
      const seen = await findCommand(db, request);
      const claimed = seen && (await claimAgain(db, request, seen, now));
      if (claimed !== undefined) return claimed;
    }
    throw refuse("service_unavailable", "Other requests take the Idempotency-Key.");
  }

  /** An outcome that is not recorded costs a repetition: the next request with the key executes the same command id. */
  async function record(commandId: string, status: CommandStatus): Promise<void> {
    await outcomes.add({ commandId, status, at: now() }).catch((error: unknown) => {
      log.warn("command outcome not recorded, the next request with the key repeats the command", {
        operation_id: commandId,
        error,
      });
    });
  }

  /** The service knows the key with other parameters, so its next request must not be compared with those of this one. */
  async function forget(commandId: string): Promise<void> {
    await deleteCommand(db, commandId).catch((error: unknown) => {
      log.warn("idempotency key of a refused request not removed, the next request with the key may be refused", {
        operation_id: commandId,
        error,
      });
    });
  }
}

/** Undefined when another request was faster. */
async function claimAgain(
  db: Queryable,
  request: ClaimRequest,
  seen: StoredCommand,
  now: Clock,
): Promise<Claim | undefined> {
  if (!seen.fingerprint.equals(request.fingerprint)) {
    throw keyReused(seen.commandId, seen.status === "REFUSED" ? "not_executed" : "unknown");
  }
  if (seen.status === "DONE") return { commandId: seen.commandId, isRepeated: true, wasDone: true };
  if (seen.status === "IN_PROGRESS" && seen.busyUntil > now()) throw keyInProgress(seen.commandId);
  const { busyUntil } = request;
  const isRepeated = seen.status === "IN_PROGRESS";
  const commandId = isRepeated ? seen.commandId : request.commandId;
  const isTaken = await takeOver(db, request, seen, { commandId, busyUntil });
  return isTaken ? { commandId, isRepeated, wasDone: false } : undefined;
}

/** The command was recorded to be executed later, and was not: its service knows how it has ended, and names it. */
function isEnd(error: unknown, { commandId }: Claim): boolean {
  return error instanceof Refusal && error.outcome === "not_executed" && error.operationId === commandId;
}

/** Only a proof that the command was never executed permits a new command under the key. */
function statusAfter(error: unknown, { isRepeated }: Claim): CommandStatus {
  if (!(error instanceof Refusal)) return "IN_PROGRESS";
  const isProof = verdictOf(error, "command").outcome === "not_executed";
  return isProof && !(isRepeated && TRANSPORT_CODES.has(error.code)) ? "REFUSED" : "IN_PROGRESS";
}

function notRepeated(operationId: string): Refusal {
  const message = `Operation ${operationId} was accepted before. Its result cannot be read now. Send the request again in a second, with the same Idempotency-Key.`;
  return refuse("operation_in_progress", message, { outcome: "unknown", operationId });
}
