import { Client as Channel, credentials, Metadata, status } from "@grpc/grpc-js";
import { contract, type Read, silent } from "./calls.ts";
import { permitAll, testIdentity } from "./identity.ts";
import { grpcClient } from "../grpc/client.ts";
import { serveOverGrpc } from "../grpc/serve.ts";

export const HOST = "127.0.0.1";

export async function serving(read: Read, { maxConcurrent = 64, log = silent } = {}) {
  const stack = new AsyncDisposableStack();
  const services = [{ contract, implementation: { read }, permissions: permitAll(contract) }] as const;
  const identity = await testIdentity("platform");
  const served = stack.use(await serveOverGrpc({ host: HOST, port: 0, services, identity, log, maxConcurrent }));
  const client = stack.use(await clientOf(served.port));
  return { served, client, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** A client with the identity of funding. */
export async function clientOf(port: number, host = HOST) {
  const identity = await testIdentity("funding");
  return grpcClient(`${host}:${port}`, { contract, service: "platform", identity });
}

/** A call without the generated client and without headers of the service. */
export async function rawCall(
  port: number,
  path: string,
  payload: Buffer,
): Promise<{ code: status; answer: Buffer | undefined; metadata: Metadata }> {
  const channel = await rawChannel(port);
  const asIs = (bytes: Buffer): Buffer => bytes;
  return new Promise((resolve) => {
    channel.makeUnaryRequest(path, asIs, asIs, payload, new Metadata(), (error, bytes) => {
      channel.close();
      resolve({ code: error?.code ?? status.OK, answer: bytes, metadata: error?.metadata ?? new Metadata() });
    });
  });
}

/** A channel with the identity of funding, for calls without the generated client. */
export async function rawChannel(port: number): Promise<Channel> {
  const { ca, cert, key } = await testIdentity("funding");
  const secure = credentials.createSsl(Buffer.from(ca), Buffer.from(key), Buffer.from(cert));
  return new Channel(`${HOST}:${port}`, secure, { "grpc.ssl_target_name_override": "platform" });
}
