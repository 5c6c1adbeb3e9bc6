import type { Deps } from "../deps.ts";
import type { CommandSession } from "../mt5/client.ts";
import { Mt5Error } from "../mt5/errors.ts";

/** Sessions of one batch of permits. */
export type Sessions = Disposable & {
  /** The session of the next permit; undefined when no further permit may be granted. */
  readonly next: () => CommandSession | undefined;
  /** False when the platform cannot be reached, or all sessions are busy for too long; undefined when none is free at once. */
  readonly isReachable: boolean | undefined;
  /** These are returned by their sender; the others by the disposal. */
  readonly keep: (sessions: readonly CommandSession[]) => void;
  /** Permits that they can send before these expire, and all requests when there is no session. */
  readonly maxItems: number;
};

export type SessionRequest = {
  /** Commands that wait. */
  readonly sends: number;
  /** Commands that one session is given at once. */
  readonly sendsOfASession: number;
  /** Undefined when no request waits for a session: one that is free at once is taken. */
  readonly waitMs: number | undefined;
};

/**
 * Waits for one free session that is signed in, and adds others that are free at this moment: a permit without a session would
 * expire. Without any, `next` returns undefined.
 */
export async function acquireSessions(
  { mt5, settings }: Pick<Deps, "mt5" | "settings">,
  { sends, sendsOfASession, waitMs }: SessionRequest,
): Promise<Sessions> {
  const list: CommandSession[] = [];
  const wanted = Math.min(settings.sessionsAtOnce, Math.ceil(sends / sendsOfASession));
  while (list.length < wanted) {
    const session = await acquire(mt5, list.length === 0 ? (waitMs ?? 0) : 0);
    if (session === undefined) break;
    list.push(session);
  }
  return sessionsOf(list, sendsOfASession, list.length > 0 || (waitMs === undefined ? undefined : false));
}

/** While no permit is granted, nothing waits for a session. */
export function noSessions(): Sessions {
  return sessionsOf([], 0, false);
}

function sessionsOf(
  list: readonly CommandSession[],
  sendsOfASession: number,
  isReachable: boolean | undefined,
): Sessions {
  const capacity = list.length * sendsOfASession;
  const kept = new Set<CommandSession>();
  let assigned = 0;
  return {
    isReachable,
    keep(sessions) {
      for (const session of sessions) kept.add(session);
    },
    maxItems: list.length === 0 ? Infinity : capacity,
    next() {
      if (assigned === capacity) return undefined;
      assigned += 1;
      return list[(assigned - 1) % list.length];
    },
    [Symbol.dispose]() {
      for (const session of list) if (!kept.has(session)) session[Symbol.dispose]();
    },
  };
}

/** Undefined when none becomes free in time. */
export async function acquire(mt5: Deps["mt5"], waitMs: number): Promise<CommandSession | undefined> {
  try {
    return await mt5.acquireForCommand({ waitMs });
  } catch (error) {
    if (error instanceof Mt5Error) return undefined;
    throw error;
  }
}
