import {
  type handleUnaryCall,
  logVerbosity,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  setLogVerbosity,
} from "@grpc/grpc-js";
import { HealthImplementation } from "grpc-health-check";
import { type Contract, type Implementation, type Method, methodsOf } from "../contract/contract.ts";
import { createDispatcher, type Dispatcher } from "../contract/dispatch.ts";
import { MAX_CONCURRENT_CALLS } from "../contract/limit.ts";
import type { Log } from "../log.ts";
import { listenError } from "../startup-error.ts";
import { MAX_MESSAGE_BYTES } from "./limits.ts";
import { addReflection } from "./reflection.ts";
import { respond } from "./respond.ts";

export type Mounted<C extends Contract> = { readonly contract: C; readonly implementation: Implementation<C> };

export type GrpcServeOptions<Contracts extends readonly Contract[]> = {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly services: { readonly [Index in keyof Contracts]: Mounted<Contracts[Index]> };
  readonly log: Log;
  /** Calls in progress, for commands and for queries each. */
  readonly maxConcurrent?: number;
};

export type GrpcServer = AsyncDisposable & { readonly port: number };

/** Calls in flight are cancelled after this time, which is shorter than HARD_STOP_MS of the process. */
const DRAIN_TIMEOUT_MS = 10_000;

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
  const dispatchers = options.services.map((mounted) => mount(server, health, mounted, options));
  health.addToServer(server);
  addReflection(
    server,
    options.services.map(({ contract }) => serviceOf(contract)),
    options.log,
  );
  const port = await bind(server, options.host, options.port);
  return {
    port,
    async [Symbol.asyncDispose]() {
      health.setStatus("", "NOT_SERVING");
      await shutDown(server);
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.idle()));
    },
  };
}

function mount(
  server: Server,
  health: HealthImplementation,
  { contract, implementation }: Mounted<Contract>,
  { log, maxConcurrent = MAX_CONCURRENT_CALLS }: Pick<GrpcServeOptions<[]>, "log" | "maxConcurrent">,
): Dispatcher {
  const dispatcher = createDispatcher({ transport: "grpc", implementation, log, maxConcurrent });
  const methods = methodsOf(contract);
  const definition: ServiceDefinition = Object.fromEntries(methods.map((method) => [method.name, passThrough(method)]));
  const handlers = methods.map((method) => [method.name, handlerOf(dispatcher, method)] as const);
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

function handlerOf(dispatcher: Dispatcher, method: Method): handleUnaryCall<Buffer, Uint8Array> {
  return (call, callback) => {
    const header = (name: string): string | undefined => call.metadata.get(name)[0]?.toString();
    const onCancelled = (abort: () => void): void => void call.on("cancelled", abort);
    const incoming = { method, payload: call.request, header, deadline: deadlineOf(call), onCancelled };
    void dispatcher.dispatch(incoming).then((answer) => respond(callback, answer));
  };
}

function deadlineOf(call: ServerUnaryCall<Buffer, Uint8Array>): Date | undefined {
  const deadline = new Date(call.getDeadline());
  return Number.isNaN(deadline.getTime()) ? undefined : deadline;
}

function bind(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(listenError("gRPC", host, port, error));
    });
  });
}

async function shutDown(server: Server): Promise<void> {
  const timer = setTimeout(() => server.forceShutdown(), DRAIN_TIMEOUT_MS);
  await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  clearTimeout(timer);
}
