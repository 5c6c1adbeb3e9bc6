export type HttpAnswer = {
  readonly status: number;
  /** Names in lower case, every value in order. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: Uint8Array;
  /** Whether another request may follow on the connection. */
  readonly keepsAlive: boolean;
};

/** Why nothing was written: the connection had ended, it was not signed in, or the writer's permit was spent. */
export type NotSentReason = "closed" | "unauthenticated" | "not_permitted";
/** Why what was written brought no answer. The connection was reset in each case. */
export type LossReason = "timeout" | "connection_lost" | "protocol_violation";

/**
 * What became of one request. `not_sent` is a promise: not one byte of it was handed to the socket. After `lost` nothing
 * of it is left on our side, neither in this process nor in its kernel, and after `answered` it was taken whole.
 */
export type Exchanged =
  | { readonly kind: "answered"; readonly answer: HttpAnswer }
  | { readonly kind: "not_sent"; readonly reason: NotSentReason }
  | { readonly kind: "lost"; readonly reason: LossReason };
