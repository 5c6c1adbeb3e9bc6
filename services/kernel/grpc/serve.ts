import {
  type handleUnaryCall,
  logVerbosity,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  setLogVerbosity,
} from "@grpc/grpc-js";
import { setTimeout as sleep } from "node:timers/promises";
import { HealthImplementation } from "grpc-health-check";
import { type Contract, type Implementation, type Method, methodsOf, type Permissions } from "../contract/contract.ts";
import type { ServiceName } from "#catalogue/services.ts";
import { createDispatcher, type Dispatcher } from "../contract/dispatch.ts";
import { MAX_CONCURRENT_CALLS } from "../contract/limit.ts";
import type { Log } from "../process/log.ts";
import type { Identity } from "../certificates/identity.ts";
import { MAX_MESSAGE_BYTES, refuseUnread, respond } from "./respond.ts";
import { acceptPeers } from "./peers.ts";
import { addReflection } from "./reflection.ts";

export type Mounted<C extends Contract> = {
  readonly contract: C;
  readonly implementation: Implementation<C>;
  readonly permissions: Permissions<C>;
};

export type GrpcServeOptions<Contracts extends readonly Contract[]> = {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly services: { readonly [Index in keyof Contracts]: Mounted<Contracts[Index]> };
  /** Proves the name of this service to its callers. */
  readonly identity: Identity;
  readonly log: Log;
  /** Calls in progress, for commands and for queries each. */
  readonly maxConcurrent?: number;
};

export type GrpcServer = AsyncDisposable & { readonly port: number };

/** Calls in flight are cancelled after this time, which is shorter than HARD_STOP_MS of the process. */
const DRAIN_TIMEOUT_MS = 10_000;
/** For the last answers, and for callers to end their connections. */
const LAST_ANSWERS_MS = 100;

export async function serveOverGrpc<const Contracts extends readonly Contract[]>(
  options: GrpcServeOptions<Contracts>,
): Promise<GrpcServer> {
  // The library also throws what it would print on standard error.
  setLogVerbosity(logVerbosity.NONE);
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  });
  const health = new HealthImplementation({ "": "SERVING" });
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const peers = await acceptPeers(injector, options);
  const nameOf: NameOf = (call) => peers.nameOf(call.getPeer());
  let isLeaving = false;
  const place = { ...options, nameOf, isLeaving: () => isLeaving };
  const dispatchers = options.services.map((mounted) => mount(server, health, mounted, place));
  health.addToServer(server);
  addReflection(
    server,
    options.services.map(({ contract }) => serviceOf(contract)),
    options.log,
  );
  return {
    port: peers.port,
    async [Symbol.asyncDispose]() {
      health.setStatus("", "NOT_SERVING");
      peers.close();
      // Node ends a connection without the answers that are still to be sent on it, so none is ended before they are sent. Meanwhile new
      // calls are refused, and their callers send them elsewhere.
      isLeaving = true;
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.idle()));
      await sleep(LAST_ANSWERS_MS);
      injector.drain(DRAIN_TIMEOUT_MS);
      await peers.ended(LAST_ANSWERS_MS);
      await shutDown(server);
    },
  };
}

type UnaryCall = ServerUnaryCall<Buffer, Uint8Array>;
/** The service that makes the call, as its certificate proves. */
type NameOf = (call: UnaryCall) => ServiceName | undefined;
type MountOptions = Pick<GrpcServeOptions<[]>, "log" | "maxConcurrent"> & {
  readonly nameOf: NameOf;
  /** Whether new calls are refused unread. */
  readonly isLeaving: () => boolean;
};

function mount(
  server: Server,
  health: HealthImplementation,
  { contract, implementation, permissions }: Mounted<Contract>,
  { log, maxConcurrent = MAX_CONCURRENT_CALLS, nameOf, isLeaving }: MountOptions,
): Dispatcher {
  const dispatcher = createDispatcher({ transport: "grpc", implementation, permissions, log, maxConcurrent });
  const methods = methodsOf(contract);
  const definition: ServiceDefinition = Object.fromEntries(methods.map((method) => [method.name, passThrough(method)]));
  const handlers = methods.map(
    (method) => [method.name, handlerOf(dispatcher, method, { nameOf, isLeaving })] as const,
  );
  server.addService(definition, Object.fromEntries(handlers));
  health.setStatus(serviceOf(contract), "SERVING");
  return dispatcher;
}

function serviceOf(contract: Contract): string {
  return methodsOf(contract)[0]?.service ?? "";
}

/** Bytes in, bytes out: the dispatcher decodes, so that a malformed request is refused as on NATS. */
function passThrough({ path }: Method): ServiceDefinition[string] {
  const asIs = (bytes: Buffer): Buffer => bytes;
  return {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
}

function handlerOf(
  dispatcher: Dispatcher,
  method: Method,
  { nameOf, isLeaving }: Pick<MountOptions, "nameOf" | "isLeaving">,
): handleUnaryCall<Buffer, Uint8Array> {
  return (call, callback) => {
    if (isLeaving()) return refuseUnread(callback);
    const header = (name: string): string | undefined => call.metadata.get(name)[0]?.toString();
    const onCancelled = (abort: () => void): void => void call.on("cancelled", abort);
    const incoming = { method, payload: call.request, header, deadline: deadlineOf(call), onCancelled };
    const caller = nameOf(call);
    void dispatcher.dispatch({ ...incoming, caller }).then((answer) => respond(callback, answer));
  };
}

function deadlineOf(call: UnaryCall): Date | undefined {
  const deadline = new Date(call.getDeadline());
  return Number.isNaN(deadline.getTime()) ? undefined : deadline;
}

async function shutDown(server: Server): Promise<void> {
  const timer = setTimeout(() => server.forceShutdown(), DRAIN_TIMEOUT_MS);
  await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  clearTimeout(timer);
}
