import { Client as Channel, credentials, Metadata, status } from "@grpc/grpc-js";
import { contract, type Read, silent } from "./calls.ts";
import { grpcClient } from "../grpc/client.ts";
import { serveOverGrpc } from "../grpc/serve.ts";

export const HOST = "127.0.0.1";

export async function serving(read: Read, { maxConcurrent = 64, log = silent } = {}) {
  const stack = new AsyncDisposableStack();
  const services = [{ contract, implementation: { read } }] as const;
  const served = stack.use(await serveOverGrpc({ host: HOST, port: 0, services, log, maxConcurrent }));
  const client = stack.use(grpcClient(`${HOST}:${served.port}`, { contract, caller: "funding" }));
  return { served, client, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** A call without the generated client and without headers of the service. */
export function rawCall(
  port: number,
  path: string,
  payload: Buffer,
): Promise<{ code: status; answer: Buffer | undefined; metadata: Metadata }> {
  const channel = new Channel(`${HOST}:${port}`, credentials.createInsecure());
  const asIs = (bytes: Buffer): Buffer => bytes;
  return new Promise((resolve) => {
    channel.makeUnaryRequest(path, asIs, asIs, payload, new Metadata(), (error, bytes) => {
      channel.close();
      resolve({ code: error?.code ?? status.OK, answer: bytes, metadata: error?.metadata ?? new Metadata() });
    });
  });
}
