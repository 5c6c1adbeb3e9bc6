import type { ServiceName } from "#catalogue/services.ts";
import type { Transport } from "../process/metrics.ts";

/** One unary rpc as ts-proto writes it for grpc-js. The types of the messages are those of the (de)serializers. */
export type MethodDefinition = {
  readonly path: string;
  readonly requestStream: false;
  readonly responseStream: false;
  readonly requestSerialize: (message: never) => Buffer;
  readonly requestDeserialize: (bytes: Buffer) => unknown;
  readonly responseSerialize: (message: never) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => unknown;
};

/** A service constant of the generated code, for example FeedServiceService. All four adapters are derived from it. */
export type Contract = Readonly<Record<string, MethodDefinition>>;

export type RequestOf<M extends MethodDefinition> = ReturnType<M["requestDeserialize"]>;
export type ResponseOf<M extends MethodDefinition> = ReturnType<M["responseDeserialize"]>;

/** What a call carries beside its message; sent as headers on every transport. */
export type CallContext = {
  /** Links all calls and events that one request of a caller causes. */
  readonly requestId: string;
  /** Id of the command, chosen by the first caller; empty for queries. */
  readonly commandId: string;
  /** Name of the service that calls. */
  readonly caller: string;
  /** After this instant the caller does not wait for the answer any more. */
  readonly deadline: Date;
  /** Aborted at the deadline, or when the caller cancels. */
  readonly signal: AbortSignal;
};

export type Implementation<C extends Contract> = {
  readonly [Name in keyof C]: (request: RequestOf<C[Name]>, context: CallContext) => Promise<ResponseOf<C[Name]>>;
};

/** A client has the type of the service, so a test may pass a plain object instead of a connection. */
export type Client<C extends Contract> = Implementation<C>;

/** A method without its types, for the adapters. */
export type Method = {
  /** Member of the contract, for example createMaster. */
  readonly name: string;
  /** Name in the proto file, for example CreateMaster. */
  readonly rpc: string;
  /** Full name of the service, for example pamm.account.v1.AccountService. */
  readonly service: string;
  readonly path: string;
  readonly requestSerialize: (message: unknown) => Buffer;
  readonly requestDeserialize: (bytes: Buffer) => unknown;
  readonly responseSerialize: (message: unknown) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => unknown;
};

export function methodsOf(contract: Contract): readonly Method[] {
  return Object.entries(contract).map(([name, definition]) => {
    const [, service = "", rpc = ""] = definition.path.split("/");
    return { ...(definition as unknown as Method), name, rpc, service };
  });
}

/** The callers of each method; all others are refused. Complete by its type: a method without an entry does not compile. */
export type Permissions<C extends Contract> = { readonly [Name in keyof C]: readonly ServiceName[] };

/** Caller and callee have spans of one name, `pamm.funding.v1.FundingService/Deposit`. */
export function rpcName({ path }: Method): string {
  return path.slice(1);
}

export function rpcAttributes({ service, rpc }: Method, transport: Transport): Record<string, string> {
  return { "rpc.system": transport, "rpc.service": service, "rpc.method": rpc };
}
