import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export type Received = {
  /** The `webhook-id`. */
  readonly id: string;
  readonly login: string;
  readonly type: string;
  /** Of the attempt, in seconds since 1970. */
  readonly sentAt: number;
  readonly delayMs: number;
  readonly signatures: number;
  /** Which of the secrets so far have made a signature of it. */
  readonly signedBy: readonly number[];
  /** With a status of 2xx, whether the sender has recorded it or not. */
  isAccepted: boolean;
};

export type Answer = (response: ServerResponse) => unknown;

export const accept: Answer = (response) => response.writeHead(204).end();

export type Receiver = AsyncDisposable & {
  readonly url: string;
  /** All requests, in the order of their arrival. */
  readonly received: readonly Received[];
  /** The secrets of the webhook, one after the other. */
  readonly secrets: string[];
  /** The next requests get these answers, one each; the rest is accepted. */
  readonly meet: (...answers: readonly Answer[]) => void;
  /** How many of these are left. */
  readonly unmet: () => number;
  readonly setDefault: (answer: Answer) => void;
  /** Nothing listens on its port for as long. */
  readonly restart: (between: () => Promise<unknown>) => Promise<void>;
};

/** An endpoint as a client of the API writes it, with faults on request. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const secrets: string[] = [];
  const answers: Answer[] = [];
  let usual = accept;
  const listen = async (port: number): Promise<Server> => {
    const server = createServer((request, response) => {
      void text(request)
        .then((body) => {
          const item = readRequest(request.headers, body, secrets);
          received.push(item);
          response.on("finish", () => (item.isAccepted = response.statusCode < 300));
          (answers.shift() ?? usual)(response);
        })
        .catch(() => response.destroy());
    });
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return server;
  };
  const close = async (server: Server): Promise<void> => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/events`,
    received,
    secrets,
    meet: (...next) => void answers.push(...next),
    unmet: () => answers.length,
    setDefault: (answer) => void (usual = answer),
    async restart(between) {
      await close(server);
      await between();
      server = await listen(port);
    },
    [Symbol.asyncDispose]: () => close(server),
  };
}

function readRequest(headers: IncomingHttpHeaders, body: string, secrets: readonly string[]): Received {
  const [id, sentAt] = [String(headers["webhook-id"]), String(headers["webhook-timestamp"])];
  const signatures = String(headers["webhook-signature"]).split(" ");
  const signedBy = secrets.flatMap((secret, index) => {
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    const signature = createHmac("sha256", key).update(`${id}.${sentAt}.${body}`).digest("base64");
    return signatures.includes(`v1,${signature}`) ? [index] : [];
  });
  const { type, timestamp, data } = JSON.parse(body) as { type: string; timestamp: string; data: { login: string } };
  return {
    id,
    type,
    login: String(data.login),
    sentAt: Number(sentAt),
    delayMs: Date.now() - Date.parse(timestamp),
    signatures: signatures.length,
    signedBy,
    isAccepted: false,
  };
}
