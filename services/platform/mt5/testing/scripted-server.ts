import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { generate } from "selfsigned";
import { answerTo, passwordHash } from "../session/handshake.ts";

/** One request as it arrived. */
export type ReceivedRequest = {
  readonly method: string;
  /** Below /api/. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly connection: ServerConnection;
};

/** One connection, which a script may write to, close or reset. */
export type ServerConnection = {
  readonly number: number;
  readonly tls: TLSSocket;
  readonly raw: Socket;
  bytesReceived: number;
  /** The other side reset the connection instead of closing it. */
  wasReset: boolean;
  isSignedIn: boolean;
  isOpen: boolean;
};

/** Text = HTTP 200 with this body; "nothing" = the script wrote the answer itself or none is sent; an object = its parts. */
export type Reply = string | { readonly status: number; readonly head?: string; readonly body: string };
/** Undefined = the default answer: the server signs managers in, answers pings and its time in UTC, and "not found" to all other requests. */
export type Script = (request: ReceivedRequest) => Reply | undefined | Promise<Reply | undefined>;

export type ScriptedServer = AsyncDisposable & {
  readonly port: number;
  readonly ca: string;
  readonly requests: ReceivedRequest[];
  readonly connections: ServerConnection[];
  script: Script;
  readonly paths: () => string[];
  /** Requests of a path. */
  readonly count: (path: string) => number;
};

export const MANAGER = { login: "1005", password: "Password1" };
const SERVER_RANDOM = "73007dc7184747ce0f7c98516ef1c851";

/** A minimal trading platform over TLS whose answers a script can replace. */
export async function startScriptedServer(script: Script = () => undefined): Promise<ScriptedServer> {
  const pem = await selfSigned();
  const tcp = createServer();
  const server: Omit<ScriptedServer, keyof AsyncDisposable> = {
    port: await listen(tcp),
    ca: pem.cert,
    requests: [],
    connections: [],
    script,
    paths: () => server.requests.map(({ path }) => path),
    count: (requested) => server.requests.filter(({ path }) => path === requested).length,
  };
  tcp.on("connection", (raw: Socket) => {
    const tls = new TLSSocket(raw, { isServer: true, key: pem.private, cert: pem.cert });
    const connection: ServerConnection = {
      number: server.connections.length + 1,
      tls,
      raw,
      bytesReceived: 0,
      wasReset: false,
      isSignedIn: false,
      isOpen: true,
    };
    server.connections.push(connection);
    for (const socket of [raw, tls]) {
      socket.on("error", (error: NodeJS.ErrnoException) => (connection.wasReset ||= error.code === "ECONNRESET"));
      socket.on("close", () => (connection.isOpen = false));
    }
    serve(connection, (request) => void answer(server, request));
  });
  return Object.assign(server, {
    async [Symbol.asyncDispose]() {
      for (const { raw, tls } of server.connections) {
        tls.destroy();
        raw.destroy();
      }
      tcp.close();
      await once(tcp, "close");
    },
  });
}

export async function selfSigned() {
  return await generate([{ name: "commonName", value: "scripted" }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions: [{ name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] }],
  });
}

/** As MT5_TLS_FINGERPRINT has it. */
export function fingerprintOf(cert: string): string {
  return new X509Certificate(cert).fingerprint256.replaceAll(":", "");
}

export async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

export function httpAnswer(body: string, status = 200, head = ""): string {
  return `HTTP/1.1 ${status} X\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${head}\r\n${body}`;
}

function serve(connection: ServerConnection, onRequest: (request: ReceivedRequest) => void): void {
  let pending = "";
  connection.tls.on("data", (bytes: Buffer) => {
    connection.bytesReceived += bytes.length;
    pending += bytes.toString("utf8");
    for (;;) {
      const end = pending.indexOf("\r\n\r\n");
      if (end < 0) return;
      const [requestLine = "", ...headerLines] = pending.slice(0, end).split("\r\n");
      const headers = new Map(
        headerLines.map((text) => [(text.split(":")[0] ?? "").toLowerCase(), text.split(": ")[1] ?? ""]),
      );
      const bodyEnd = end + 4 + Number(headers.get("content-length") ?? 0);
      if (pending.length < bodyEnd) return;
      const [method = "", target = ""] = requestLine.split(" ");
      const [path = "", search] = target.replace("/api/", "").split("?");
      const query = Object.fromEntries(
        (search?.split("&") ?? []).map((part) => part.split("=").map(decodeURIComponent)),
      );
      onRequest({ method, path, query, headers, body: pending.slice(end + 4, bodyEnd), connection });
      pending = pending.slice(bodyEnd);
    }
  });
}

async function answer(server: Pick<ScriptedServer, "requests" | "script">, request: ReceivedRequest): Promise<void> {
  server.requests.push(request);
  const reply = (await server.script(request)) ?? defaultReply(request);
  if (reply === "nothing" || !request.connection.isOpen) return;
  const text = typeof reply === "string" ? httpAnswer(reply) : httpAnswer(reply.body, reply.status, reply.head ?? "");
  request.connection.tls.write(text);
}

function defaultReply({ path, query, connection }: ReceivedRequest): Reply {
  switch (path) {
    case "auth/start":
      connection.isSignedIn = false;
      return JSON.stringify({ retcode: "0 Done", srv_rand: SERVER_RANDOM });
    case "auth/answer": {
      const hash = passwordHash(MANAGER.password);
      if (query["srv_rand_answer"] !== answerTo(hash, SERVER_RANDOM)) return { status: 403, body: "403 Forbidden" };
      connection.isSignedIn = true;
      return JSON.stringify({ retcode: "0 Done", cli_rand_answer: answerTo(hash, query["cli_rand"] ?? "") });
    }
    case "time/server":
      if (connection.isSignedIn) return `{"retcode":"0 Done","answer":{"Time":"${Math.floor(Date.now() / 1_000)}"}}`;
      return { status: 403, body: "403 Forbidden" };
    case "test/access":
      return connection.isSignedIn ? '{"retcode":"0 Done"}' : { status: 403, body: "403 Forbidden" };
    default:
      return connection.isSignedIn ? '{"retcode":"13 Not found"}' : { status: 403, body: "403 Forbidden" };
  }
}
