import { ErrorCode, headers, type MsgHdrs, type NatsError } from "nats";
import { endOfTurn } from "../end-of-turn.ts";
import { clientOf } from "../contract/client.ts";
import { remainingMs } from "../contract/context.ts";
import type { CallContext, Client, Contract } from "../contract/contract.ts";
import { decodeRefusal } from "../contract/error.ts";
import { HEADER, writeHeaders } from "../contract/headers.ts";
import { outcomeUnknown, requestTooLarge, serviceUnavailable } from "../contract/refusals.ts";
import type { Refusal } from "../refusal.ts";
import type { Broker } from "./connect.ts";
import { requestsOver } from "./request.ts";
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
