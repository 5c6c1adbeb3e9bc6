import { setTimeout as pause } from "node:timers/promises";
import { Client as Channel, type ClientOptions, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { clientOf } from "../contract/client.ts";
import type { CallContext, Client, Contract, Method } from "../contract/contract.ts";
import { decodeRefusal } from "../contract/error.ts";
import { HEADER, writeHeaders } from "../contract/headers.ts";
import { outcomeUnknown, requestTooLarge, serviceUnavailable } from "../contract/refusals.ts";
import type { ServiceName } from "#catalogue/services.ts";
import type { Refusal } from "../values/refusal.ts";
import type { Identity } from "../certificates/identity.ts";
import { type FreshChannel, freshChannel } from "./fresh-channel.ts";
import { MAX_MESSAGE_BYTES, LEAVING } from "./respond.ts";

export type GrpcClientOptions<C extends Contract> = {
  readonly contract: C;
  /** The service at the address, which has to prove its name. */
  readonly service: ServiceName;
  /** Of the calling service. */
  readonly identity: Identity;
  /** How long the addresses of the service are used before they are asked for again. */
  readonly freshForMs?: number | undefined;
};

export type GrpcClient<C extends Contract> = Client<C> & Disposable;

const CHANNEL_OPTIONS: ClientOptions = {
  // A command is repeated by the owner of its key, never by the library.
  "grpc.enable_retries": 0,
  // A name has an address for each replica, and each of them gets its share of the calls.
  "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  "grpc.service_config_disable_resolution": 1,
  // When a connection ends, the addresses are asked for; by default not twice within 30 s, and a roll-out can be faster.
  "grpc.dns_min_time_between_resolutions_ms": 1_000,
  // A service that restarts is back within a second or two; by default the library pauses for up to two minutes.
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
  // A server that is gone without closing the connection is noticed after 15 s, also while no call is in progress.
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.keepalive_permit_without_calls": 1,
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
};

/** `address` is host:port, where the host may have many addresses, or a target in the form of gRPC: dns:///host:port, ipv4:1.2.3.4:9000,1.2.3.5:9000. */
export function grpcClient<C extends Contract>(
  address: string,
  { contract, service, identity, freshForMs }: GrpcClientOptions<C>,
): GrpcClient<C> {
  const { name: caller, ca, cert, key } = identity;
  const secure = credentials.createSsl(Buffer.from(ca), Buffer.from(key), Buffer.from(cert));
  // The certificate has the name of the service, whatever the address is.
  const options = { ...CHANNEL_OPTIONS, "grpc.ssl_target_name_override": service };
  const channel = freshChannel(() => new Channel(address, secure, options), freshForMs);
  const client = clientOf(contract, "grpc", async (method, payload, context) => {
    if (payload.length > MAX_MESSAGE_BYTES) throw requestTooLarge(payload.length, MAX_MESSAGE_BYTES);
    const begunAt = Date.now();
    const retriedUntil = begunAt + (context.deadline.getTime() - begunAt) * RETRIED_FOR;
    for (;;) {
      try {
        return await call(channel, method, payload, { context, caller });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        if (Date.now() >= retriedUntil) throw error.refusal;
        await pause(Math.random() * PAUSE_MS);
      }
    }
  });
  return Object.assign(client, { [Symbol.dispose]: () => channel[Symbol.dispose]() });
}

/**
 * The part of its time in which a call is tried again that a replica refused unread. The stopping replica keeps its turn among the calls of a
 * client while it drains, so that of two replicas it gets every second try. At the deadline the outcome of a call would be unknown.
 */
const RETRIED_FOR = 0.5;
/** Of all callers at once, some would come to the stopping replica each time: pauses of random lengths change their turns. */
const PAUSE_MS = 5;

/** A replica that is stopping has not read the call: another one may. */
class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

const asIs = (bytes: Buffer): Buffer => bytes;

function call(
  channel: FreshChannel,
  method: Method,
  payload: Buffer,
  { context, caller }: { context: CallContext; caller: string },
): Promise<Buffer> {
  const metadata = new Metadata();
  writeHeaders(context, caller, (name, value) => metadata.set(name, value));
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const options = { deadline: context.deadline };
  channel.use((open, ended) => {
    const running = open.makeUnaryRequest(method.path, asIs, asIs, payload, metadata, options, (error, response) => {
      ended();
      context.signal.removeEventListener("abort", cancel);
      if (error !== null) reject(refusalOf(method.service, error));
      else resolve(response ?? Buffer.alloc(0));
    });
    const cancel = (): void => running.cancel();
    context.signal.addEventListener("abort", cancel, { once: true });
  });
  return promise;
}

function refusalOf(service: string, error: ServiceError): Refusal | Refused {
  const [bytes] = error.metadata.get(HEADER.errorBytes);
  if (bytes !== undefined && typeof bytes !== "string") return decodeRefusal(bytes);
  if (REFUSED_UNREAD.some((text) => error.details.includes(text))) return new Refused(serviceUnavailable(service));
  return wasNotSent(error) ? serviceUnavailable(service) : outcomeUnknown(service);
}

/** Texts of grpc-js, and of a server of this project, for a request whose stream the peer refused unread (RFC 9113, 8.7). */
const REFUSED_UNREAD = ["Stream refused by server", LEAVING];
/** Its texts for a request that had no connection. */
const NOT_SENT = ["No connection established", "Name resolution failed"];

function wasNotSent({ code, details }: ServiceError): boolean {
  if (code === status.UNIMPLEMENTED) return true;
  return code === status.UNAVAILABLE && NOT_SENT.some((text) => details.includes(text));
}
