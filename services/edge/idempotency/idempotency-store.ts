import type { Clock } from "#kernel/clock.ts";
import type { Log } from "#kernel/log.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { Refusal } from "#kernel/refusal.ts";
import { isTrouble } from "#kernel/trouble.ts";
import { verdictOf } from "../problems/http-status.ts";
import { refuse } from "../problems/refusals.ts";
import {
  findGivenCommand,
  type GivenCommand,
  type GivenState,
  type IdempotencyKey,
  insertGivenCommand,
  markAnswered,
  takeOver,
} from "../store/idempotency-keys.ts";

/** A command that is to be given at most once, however often its key is sent. */
export type Giving = IdempotencyKey & {
  readonly fingerprint: Buffer;
  /** For the case that the key stands for no command yet. */
  readonly commandId: string;
  /** By then it has been answered, or nobody knows. */
  readonly busyUntil: Date;
};

/** The command to give: the first one again, or a new one. */
export type Given = {
  readonly commandId: string;
  readonly isRepeated: boolean;
  /** It has succeeded before: whatever the repetition says, that stays so. */
  readonly wasDone: boolean;
};

export type GiveOnce = {
  /** Decides which command the key stands for. Refusals: idempotency_key_reused, operation_in_progress. */
  readonly claim: (giving: Giving) => Promise<Given>;
  /** Gives it, and keeps in mind what came of it. */
  readonly give: <T>(given: Given, work: () => Promise<T>) => Promise<T>;
};

/** Somebody else is faster every time: then somebody is at work. */
const MOST_TRIES = 5;
const RETRY_AFTER_MS = 1_000;
/** They tell of the way to whoever keeps the command, not of the command: after a first time they prove nothing. */
const OF_THE_WAY = new Set(["service_unavailable", "deadline_exceeded", "busy"]);

export function createGiveOnce(db: Queryable, { now, log }: { readonly now: Clock; readonly log: Log }): GiveOnce {
  return {
    async claim(giving) {
      try {
        return await claim(db, giving, now);
      } catch (error) {
        if (error instanceof Refusal || !isTrouble(error)) throw error;
        throw Object.assign(refuse("service_unavailable", "The key could not be put on record."), { cause: error });
      }
    },

    async give(given, work) {
      try {
        const result = await work();
        await keep(given.commandId, "DONE");
        return result;
      } catch (error) {
        if (given.wasDone) throw notRepeated(given.commandId);
        const state = stateAfter(error, given);
        await keep(given.commandId, state);
        throw given.isRepeated && state === "GIVEN" ? inProgress(given.commandId) : error;
      }
    },
  };

  /** What is not kept is found out by whoever sends the key next: the command is given again under its first id. */
  async function keep(commandId: string, state: GivenState): Promise<void> {
    await markAnswered(db, commandId, { state, at: now() }).catch((error: unknown) => {
      log.warn("what came of a command is not on record", { operation_id: commandId, error });
    });
  }
}

async function claim(db: Queryable, giving: Giving, now: Clock): Promise<Given> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    if (await insertGivenCommand(db, { ...giving, at: now() })) {
      return { commandId: giving.commandId, isRepeated: false, wasDone: false };
    }
    const seen = await findGivenCommand(db, giving);
    const given = seen && (await claimAgain(db, giving, seen, now));
    if (given !== undefined) return given;
  }
  throw refuse("service_unavailable", "The key is in use at this moment.", { retryAfterMs: RETRY_AFTER_MS });
}

/** Undefined when somebody else was faster. */
async function claimAgain(db: Queryable, giving: Giving, seen: GivenCommand, now: Clock): Promise<Given | undefined> {
  if (!seen.fingerprint.equals(giving.fingerprint)) {
    throw refuse("idempotency_key_reused", "The idempotency key was used for another request.");
  }
  if (seen.state === "DONE") return { commandId: seen.commandId, isRepeated: true, wasDone: true };
  if (seen.state === "GIVEN" && seen.busyUntil > now()) throw inProgress(seen.commandId);
  const { busyUntil } = giving;
  const isRepeated = seen.state === "GIVEN";
  const commandId = isRepeated ? seen.commandId : giving.commandId;
  const isTaken = await takeOver(db, giving, seen, { commandId, busyUntil });
  return isTaken ? { commandId, isRepeated, wasDone: false } : undefined;
}

/** Only what proves that the command was never carried out lets it be tried anew. */
function stateAfter(error: unknown, { isRepeated }: Given): GivenState {
  if (!(error instanceof Refusal)) return "GIVEN";
  const isProof = verdictOf(error, "command").outcome === "not_executed";
  return isProof && !(isRepeated && OF_THE_WAY.has(error.code)) ? "REFUSED" : "GIVEN";
}

function inProgress(commandId: string): Refusal {
  return refuse("operation_in_progress", "the request with this key was sent before and is not resolved yet", {
    outcome: "unknown",
    operationId: commandId,
    retryAfterMs: RETRY_AFTER_MS,
  });
}

function notRepeated(commandId: string): Refusal {
  return refuse(
    "operation_in_progress",
    "the request with this key was carried out; its result cannot be repeated now",
    {
      outcome: "unknown",
      operationId: commandId,
      retryAfterMs: RETRY_AFTER_MS,
    },
  );
}
