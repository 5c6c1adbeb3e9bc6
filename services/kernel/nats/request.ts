import { createInbox, ErrorCode, type Msg, type MsgHdrs, NatsError, type NatsConnection } from "nats";

export type Request = {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers: MsgHdrs;
  readonly withinMs: number;
};

/** Sends a request and resolves with its reply. Rejects with a NatsError; only NoResponders proves that no replica received it. */
export type SendRequest = (request: Request) => Promise<Msg>;

type Waiting = {
  readonly resolve: (reply: Msg) => void;
  readonly reject: (error: NatsError) => void;
  readonly timer: NodeJS.Timeout;
};

/** Status of the broker's own reply when no replica serves the subject. */
const NO_RESPONDERS = 503;

/**
 * The requests of one client, over one inbox. The library's own request creates errors and promises that a reply does not
 * need, which costs more than the message.
 */
export function requestsOver(connection: NatsConnection, inboxPrefix: string): SendRequest {
  const inbox = createInbox(inboxPrefix);
  const waiting = new Map<string, Waiting>();
  let sent = 0;

  const settle = (token: string): Waiting | undefined => {
    const request = waiting.get(token);
    waiting.delete(token);
    clearTimeout(request?.timer);
    return request;
  };
  const fail = (token: string, code: ErrorCode): void => settle(token)?.reject(NatsError.errorForCode(code));

  connection.subscribe(`${inbox}.*`, {
    callback(error, message) {
      if (error !== null) return;
      const token = message.subject.slice(inbox.length + 1);
      const hasNoResponders = message.data.length === 0 && message.headers?.code === NO_RESPONDERS;
      if (hasNoResponders) fail(token, ErrorCode.NoResponders);
      else settle(token)?.resolve(message);
    },
  });
  // Replies cannot arrive any more.
  void connection.closed().then(() => {
    for (const token of waiting.keys()) fail(token, ErrorCode.Cancelled);
  });

  return ({ subject, payload, headers, withinMs }) =>
    new Promise((resolve, reject) => {
      sent += 1;
      const token = sent.toString(36);
      // Before it waits: a closed connection throws.
      connection.publish(subject, payload, { headers, reply: `${inbox}.${token}` });
      const timer = setTimeout(() => fail(token, ErrorCode.Timeout), withinMs);
      waiting.set(token, { resolve, reject, timer });
    });
}
