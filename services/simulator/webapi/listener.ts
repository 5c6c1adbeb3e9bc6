import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { createServer as createTcpServer, type Server as TcpServer, type Socket } from "node:net";
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import type { Log } from "#kernel/process/log.ts";
import { listenError } from "#kernel/process/startup-error.ts";
import type { TradeServer } from "../trade-server.ts";
import { answerCall } from "./answer-call.ts";
import { type Connection, openConnection, resetConnection } from "./connection.ts";
import { readBody } from "./read-body.ts";
import { encodeJson, type Reply } from "./reply.ts";

export type WebApiOptions = {
  readonly server: TradeServer;
  readonly log: Log;
  readonly host: string;
  readonly port: number;
  readonly idleCloseMs: number;
  readonly certificate: { readonly key: string; readonly cert: string };
};

export type WebApi = AsyncDisposable & {
  readonly port: number;
  readonly connections: ReadonlySet<Connection>;
};

/** Far more than the sessions of a client; bounds the memory. */
const MAX_CONNECTIONS = 1_000;
/** All parameters of a command may be in its URL, for example the logins of a batch. */
const MAX_HEADER_BYTES = 64 * 1024;
/** A client that does not complete TLS occupies a connection no longer than this. */
const HANDSHAKE_MS = 10_000;
/** Answers that HTTP forbids a body. */
const BODILESS = new Set([204, 304]);

type Context = {
  readonly options: WebApiOptions;
  readonly connections: Set<Connection>;
  /** By the socket that HTTP knows. */
  readonly bySocket: WeakMap<Socket, Connection>;
  readonly stopping: AbortController;
};

/** Combines TCP and TLS itself, because only a raw socket can be reset as by a server that crashes. */
export async function serveWebApi(options: WebApiOptions): Promise<WebApi> {
  const stopping = new AbortController();
  const context: Context = { options, connections: new Set(), bySocket: new WeakMap(), stopping };
  const http = createHttp(context);
  const secure = createSecureContext({ ...options.certificate, minVersion: "TLSv1.2" });
  const tcp = createTcpServer((raw) => acceptConnection(context, http, secure, raw));
  tcp.maxConnections = MAX_CONNECTIONS;
  await listen(tcp, options);
  const address = tcp.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    connections: context.connections,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      const closed = new Promise((resolve) => tcp.close(resolve));
      for (const connection of context.connections) resetConnection(connection);
      await closed;
      http.close();
    },
  };
}

function createHttp(context: Context): Server {
  const http = createHttpServer(
    { keepAliveTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES },
    (request, response) => void answer(context, request, response),
  );
  // Closes idle connections and those that stall within a request, but not one that waits for an answer.
  http.on("timeout", (socket: Socket) => {
    if ((context.bySocket.get(socket)?.pending ?? 0) === 0) socket.destroy();
  });
  return http;
}

function acceptConnection(
  { connections, bySocket, options }: Context,
  http: Server,
  secure: SecureContext,
  raw: Socket,
): void {
  raw.setNoDelay(true);
  const tls = new TLSSocket(raw, { isServer: true, secureContext: secure });
  const connection = openConnection(raw, tls);
  connections.add(connection);
  bySocket.set(tls, connection);
  const deadline = setTimeout(() => resetConnection(connection), HANDSHAKE_MS);
  // An error here comes from the peer; the listener closes the connection.
  raw.on("error", () => tls.destroy());
  tls.on("error", () => raw.destroy());
  tls.on("close", () => raw.destroy());
  raw.on("close", () => {
    clearTimeout(deadline);
    connections.delete(connection);
    tls.destroy();
  });
  tls.once("secure", () => {
    clearTimeout(deadline);
    tls.setTimeout(options.idleCloseMs);
    http.emit("connection", tls);
  });
}

async function answer(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const connection = context.bySocket.get(request.socket);
  if (connection === undefined) return void request.socket.destroy();
  try {
    send(context, connection, response, await replyTo(context, connection, request));
  } catch (error) {
    // A peer that leaves during its request, or that a stop disconnects, is not logged.
    if (!context.stopping.signal.aborted && !request.destroyed) {
      context.options.log.error("request not answered, connection reset", { error });
    }
    resetConnection(connection);
  }
}

async function replyTo(context: Context, connection: Connection, request: IncomingMessage): Promise<Reply> {
  if (request.method !== "GET" && request.method !== "POST") return { kind: "plain", status: 405 };
  const body = await readBody(request);
  if (body === undefined) return { kind: "plain", status: 413 };
  const [path = "", ...query] = (request.url ?? "").split("?");
  const { options, stopping } = context;
  const call = { path, query: query.join("?"), body };
  connection.pending += 1;
  try {
    return await answerCall({ server: options.server, connection, signal: stopping.signal }, call);
  } finally {
    connection.pending -= 1;
  }
}

function send({ options }: Context, connection: Connection, response: ServerResponse, reply: Reply): void {
  if (reply.kind === "drop") return resetConnection(connection);
  const isTooLarge = reply.kind === "plain" && reply.status === 413;
  if (isTooLarge || (reply.kind === "json" && reply.closes)) response.setHeader("Connection", "close");
  const [status, type, text] = rendered(options, reply);
  if (BODILESS.has(status)) return void response.writeHead(status).end();
  response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(text) });
  response.end(text);
}

function rendered({ server }: WebApiOptions, reply: Exclude<Reply, { kind: "drop" }>): [number, string, string] {
  if (reply.kind === "plain") {
    return [reply.status, "text/plain", `${reply.status} ${STATUS_CODES[reply.status] ?? ""}`.trim()];
  }
  const text = encodeJson(reply.retcode, reply.content, server.settings.keyCase);
  return [200, "application/json; charset=utf-8", text];
}

function listen(tcp: TcpServer, { host, port }: WebApiOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    tcp.once("error", (error) => reject(listenError("the simulator's Web API (SIM_PORT)", host, port, error)));
    tcp.listen({ host, port }, resolve);
  });
}
