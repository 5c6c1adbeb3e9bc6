import type { GatheredRead } from "#kernel/batches/gather-reads.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import type { Decision, PermitRequest } from "./permit-requests.ts";

/** An answer of the platform, as it is recorded. */
export type Recorded = {
  /** Undefined when the leg has to be read again: only a plain answer is known without that. */
  readonly leg: RecordedLeg | undefined;
  /** What became of the order that follows, if it was decided in the commit of the answer. */
  readonly next?: Turn | undefined;
};

export type RecordedAnswer = Promise<Recorded>;

/** What became of a request; `sent` is set when it was permitted and sent. */
export type Turn = {
  readonly decision: Decision | { readonly kind: "unreachable" };
  readonly sent: RecordedAnswer | undefined;
};

export type SendQueue = {
  /**
   * Records and permits the request with the others that wait, and sends it when it is its turn. Rejects with `busy` or
   * `deadline_exceeded` when nothing was done for it before `byMs`, a monotonic instant.
   */
  readonly request: (request: PermitRequest, byMs: number) => Promise<Turn>;
  /** Waits until the answers of all commands that were sent are recorded: the callers of enqueued transfers do not. */
  readonly drain: () => Promise<void>;
};

/** What a pass has done for a login. */
export type Pass = {
  /** The legs that were sent. */
  readonly sent: ReadonlyMap<bigint, RecordedAnswer>;
  /** A leg had its turn, and the platform could not be reached. */
  readonly isUnreachable: boolean;
};

/** The one way in which a recorded leg that waits gets its turn: a statement finds it, and `sending` decides under the lock of its account. */
export type Dispatcher = {
  /** Sends what has its turn on a login. Requests that ask meanwhile share the next pass. */
  readonly sendNextOf: (login: string) => Promise<Pass>;
  /**
   * Sends what has its turn on any login: legs that no request waits for, which are enqueued, second legs, further attempts and intents of a crashed
   * process. Awaits no answer. True when more may have their turn.
   */
  readonly sendNext: () => Promise<boolean>;
  /** The legs of a transfer by its id; what is asked for at the same time is one statement. */
  readonly legsOf: GatheredRead<bigint, readonly RecordedLeg[]>;
};
