import type { Session } from "./session.ts";

/** Sessions that nobody uses. One that stays is handed to `onSilence` before the server closes it, and is gone from here. */
export type IdleSessions = {
  readonly add: (session: Session) => void;
  /** The one that was used last, so that busy times keep few sessions busy. */
  readonly take: () => Session | undefined;
  readonly remove: (session: Session) => void;
};

export function createIdleSessions(pingEveryMs: number, onSilence: (session: Session) => void): IdleSessions {
  const timers = new Map<Session, NodeJS.Timeout>();
  const remove = (session: Session) => {
    clearTimeout(timers.get(session));
    timers.delete(session);
  };
  const silent = (session: Session) => {
    remove(session);
    onSilence(session);
  };
  return {
    add(session) {
      remove(session);
      timers.set(session, setTimeout(silent, pingEveryMs, session).unref());
    },
    take() {
      const session = Array.from(timers.keys()).at(-1);
      if (session !== undefined) remove(session);
      return session;
    },
    remove,
  };
}
