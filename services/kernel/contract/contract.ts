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
  readonly encodeRequest: (message: unknown) => Buffer;
  readonly decodeRequest: (bytes: Buffer) => unknown;
  readonly encodeResponse: (message: unknown) => Buffer;
  readonly decodeResponse: (bytes: Buffer) => unknown;
};

export function methodsOf(contract: Contract): readonly Method[] {
  return Object.entries(contract).map(([name, definition]) => {
    const [, service = "", rpc = ""] = definition.path.split("/");
    return {
      name,
      rpc,
      service,
      path: definition.path,
      encodeRequest: definition.requestSerialize as (message: unknown) => Buffer,
      decodeRequest: definition.requestDeserialize,
      encodeResponse: definition.responseSerialize as (message: unknown) => Buffer,
      decodeResponse: definition.responseDeserialize,
    };
  });
}
