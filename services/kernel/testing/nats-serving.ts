import { headers } from "nats";
import { Error as ErrorMessage } from "#proto/pamm/common/v1/error.ts";
import { testNats } from "#test/support/nats.ts";
import { contract, type Read, silent } from "./calls.ts";
import { permitAll } from "./identity.ts";
import type { Log } from "../process/log.ts";
import { natsClient } from "../nats/client.ts";
import { type Broker, connectNats } from "../nats/connect.ts";
import { serveOverNats } from "../nats/serve.ts";

type Options = {
  readonly maxConcurrent?: number;
  readonly log?: Log;
  readonly url?: string;
  readonly draining?: AbortSignal;
};

/** A service with one replica, and a client on its own connection. */
export async function serving(read: Read, options: Options = {}) {
  const { url, prefix: service } = await testNats();
  const natsUrl = options.url ?? url;
  await using stack = new AsyncDisposableStack();
  const serverBroker = stack.use(await connectNats({ url: natsUrl, name: service, log: silent }));
  const clientBroker = stack.use(await connectNats({ url: natsUrl, name: "edge", log: silent }));
  const serve = (handler: Read, own: Options = options) =>
    serveOverNats(serverBroker, {
      service,
      contract,
      implementation: { read: handler },
      permissions: permitAll(contract),
      log: silent,
      ...own,
    });
  const served = stack.use(await serve(read));
  const client = natsClient(clientBroker, { service, contract, caller: "edge" });
  const callRaw = (payload: Uint8Array, sent: Record<string, string> = {}) =>
    rawCall(clientBroker, service, payload, sent);
  const all = stack.move();
  return { service, clientBroker, served, serve, client, callRaw, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** A call without the generated client; returns the code of the refusal, or empty text. */
async function rawCall({ connection }: Broker, service: string, payload: Uint8Array, fields: Record<string, string>) {
  const sent = headers();
  for (const [name, value] of Object.entries(fields)) sent.set(name, value);
  const reply = await connection.request(`pamm.v1.${service}.Read`, payload, { timeout: 20_000, headers: sent });
  return reply.headers?.has("pamm-error") === true ? ErrorMessage.decode(reply.data).code : "";
}
