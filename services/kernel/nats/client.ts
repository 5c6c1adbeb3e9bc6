import { ErrorCode, headers, type MsgHdrs, NatsError, createInbox, type Msg, type NatsConnection } from "nats";
import { endOfTurn } from "../jobs/end-of-turn.ts";
import { clientOf } from "../contract/client.ts";
import { remainingMs } from "../contract/context.ts";
import type { CallContext, Client, Contract } from "../contract/contract.ts";
import { decodeRefusal } from "../contract/error.ts";
import { HEADER, writeHeaders } from "../contract/headers.ts";
import { outcomeUnknown, requestTooLarge, serviceUnavailable } from "../contract/refusals.ts";
import type { Refusal } from "../values/refusal.ts";
import type { Broker } from "./connect.ts";
import { subjectOf } from "./subject.ts";

export type NatsClientOptions<C extends Contract> = {
  /** Name of the called service. */
  readonly service: string;
  readonly contract: C;
  /** Name of the calling service. */
  readonly caller: string;
};

/** Reserved for headers, which count towards the broker's limit. */
const HEADER_ROOM = 1_024;
/** The default of the broker, until it has reported its own limit. */
const DEFAULT_MAX_PAYLOAD = 1_048_576;

export function natsClient<C extends Contract>(
  { connection, isConnected, inboxPrefix }: Broker,
  { service, contract, caller }: NatsClientOptions<C>,
): Client<C> {
  const send = requestsOver(connection, inboxPrefix);
  return clientOf(contract, "nats", async (method, payload, context) => {
    await endOfTurn();
    // Without a broker the library would keep the request and send it later, or never.
    if (!isConnected()) throw serviceUnavailable(service);
    const maxBytes = (connection.info?.max_payload ?? DEFAULT_MAX_PAYLOAD) - HEADER_ROOM;
    if (payload.length > maxBytes) throw requestTooLarge(payload.length, maxBytes);
    const reply = await send({
      subject: subjectOf(service, method.rpc),
      payload,
      headers: headersOf(context, caller),
      withinMs: Math.max(1, remainingMs(context)),
    }).catch((error: unknown) => {
      throw refusalOf(service, error);
    });
    if (reply.headers?.has(HEADER.error) === true) throw decodeRefusal(reply.data);
    return reply.data;
  });
}

function headersOf(context: CallContext, caller: string): MsgHdrs {
  const sent = headers();
  writeHeaders(context, caller, (name, value) => sent.set(name, value));
  return sent;
}

/** Only "no responders" and a closed connection prove that the request was not delivered; other errors leave it open. */
function refusalOf(service: string, error: unknown): Refusal {
  const code = (error as Partial<NatsError>).code;
  const wasNotSent =
    code === ErrorCode.NoResponders || code === ErrorCode.ConnectionClosed || code === ErrorCode.ConnectionDraining;
  return wasNotSent ? serviceUnavailable(service) : outcomeUnknown(service);
}

type Request = {
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
function requestsOver(connection: NatsConnection, inboxPrefix: string): SendRequest {
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
