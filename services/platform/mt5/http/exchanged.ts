export type HttpAnswer = {
  readonly status: number;
  /** Names in lower case, every value in order. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: Uint8Array;
  /** Whether another request may follow on the connection. */
  readonly keepsAlive: boolean;
};

/** Why nothing was written: the connection had ended, it was not signed in, the permit had expired, or the free margin could not be read. */
export type NotSentReason = "closed" | "unauthenticated" | "not_permitted" | "margin_unknown";
/** Why a written request has no answer. The connection was reset in each case. */
export type LossReason = "timeout" | "connection_lost" | "protocol_violation";

/**
 * The result of one request. `not_sent` guarantees that not one byte was handed to the socket. After `lost` no byte of
 * the request is left to be sent, neither in this process nor in its operating system; after `answered` the server has
 * read the whole request.
 */
export type Exchanged =
  | { readonly kind: "answered"; readonly answer: HttpAnswer }
  | { readonly kind: "not_sent"; readonly reason: NotSentReason }
  | { readonly kind: "lost"; readonly reason: LossReason };
