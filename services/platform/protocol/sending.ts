import type { RecordedLeg } from "../store/leg-row.ts";
import type { Decision, PermitRequest } from "./permit-requests.ts";

/** The leg as recorded with the answer of the platform; undefined when it has to be read again. */
export type RecordedAnswer = Promise<RecordedLeg | undefined>;

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
