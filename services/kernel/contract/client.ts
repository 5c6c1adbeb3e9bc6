import {
  type CallContext,
  type Client,
  type Contract,
  type Method,
  methodsOf,
  rpcAttributes,
  rpcName,
} from "./contract.ts";
import { remainingMs } from "./context.ts";
import type { Transport } from "../process/metrics.ts";
import { inSpan, startSpan } from "../tracing/span.ts";
import { deadlineExceeded, failureOf } from "./refusals.ts";

/** Sends one encoded request and returns the encoded response, or throws the refusal. */
export type Send = (method: Method, payload: Buffer, context: CallContext) => Promise<Uint8Array>;

export function clientOf<C extends Contract>(contract: C, transport: Transport, send: Send): Client<C> {
  const calls = methodsOf(contract).map((method) => {
    const call = async (request: unknown, context: CallContext): Promise<unknown> => {
      if (remainingMs(context) <= 0 || context.signal.aborted) throw deadlineExceeded();
      const payload = method.requestSerialize(request);
      const attributes = rpcAttributes(method, transport);
      const span = startSpan(rpcName(method), { kind: "client", mayBegin: context.commandId !== "", attributes });
      const response = await inSpan(span, () => send(method, payload, context), failureOf);
      return method.responseDeserialize(asBuffer(response));
    };
    return [method.name, call] as const;
  });
  return Object.fromEntries(calls) as unknown as Client<C>;
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
