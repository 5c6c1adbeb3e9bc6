import type { Session } from "./session.ts";

/** Sessions that are not leased. One that is idle for `pingEveryMs` is removed and handed to `onSilence`. */
export type IdleSessions = {
  readonly add: (session: Session) => void;
  /** The session that was used last, so that as few sessions as possible are in use. */
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
