import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";

/** A client made from the protocol's description alone: bytes on a TLS socket, one request at a time. */
export type RawClient = AsyncDisposable & {
  readonly socket: TLSSocket;
  readonly call: (target: string, options?: CallOptions) => Promise<RawAnswer>;
  /** As call, and the answer must be HTTP 200 with JSON. */
  readonly json: (target: string, options?: CallOptions) => Promise<RawJson>;
  readonly closed: Promise<void>;
};

export type CallOptions = { readonly method?: string; readonly body?: string | object; readonly type?: string };
export type RawAnswer = { readonly status: number; readonly headers: Map<string, string>; readonly text: string };
// Tests look into answers of many shapes.
// oxlint-disable-next-line typescript/no-explicit-any
export type RawJson = { retcode: string; answer?: any; [name: string]: any };

export type Target = { readonly port: number; readonly ca: string };

export async function connectRaw({ port, ca }: Target): Promise<RawClient> {
  const socket = connect({ host: "127.0.0.1", port, ca });
  await once(socket, "secureConnect");
  const closed = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  socket.on("error", () => undefined);
  const incoming = answersOf(socket, closed);
  const call = async (target: string, options: CallOptions = {}): Promise<RawAnswer> => {
    socket.write(requestBytes(target, options));
    return incoming();
  };
  return {
    socket,
    call,
    closed,
    async json(target, options) {
      const { status, text } = await call(target, options);
      if (status !== 200) throw new Error(`HTTP ${status}: ${text}`);
      return JSON.parse(text) as RawJson;
    },
    async [Symbol.asyncDispose]() {
      socket.destroy();
      await closed;
    },
  };
}

export type Login = Target & { readonly managerLogin: number; readonly managerPassword: string };

export async function connectAuthenticated(simulator: Login): Promise<RawClient> {
  const client = await connectRaw(simulator);
  const { managerLogin: login, managerPassword: password } = simulator;
  const { srv_rand: random } = await client.json(startTarget(login));
  const clientRandom = randomBytes(16).toString("hex");
  const answer = await client.json(
    `/api/auth/answer?srv_rand_answer=${handshakeAnswer(password, random)}&cli_rand=${clientRandom}`,
  );
  if (answer["cli_rand_answer"] !== handshakeAnswer(password, clientRandom)) throw new Error("wrong server answer");
  return client;
}

export function startTarget(login: number): string {
  return `/api/auth/start?version=3000&agent=RawClient&login=${login}&type=manager`;
}

export function handshakeAnswer(password: string, randomHex: string): string {
  const md5 = (bytes: Buffer): Buffer => createHash("md5").update(bytes).digest();
  const secret = md5(Buffer.concat([md5(Buffer.from(password, "utf16le")), Buffer.from("WebAPI")]));
  return md5(Buffer.concat([secret, Buffer.from(randomHex, "hex")])).toString("hex");
}

export function requestBytes(target: string, { method, body, type = "application/json" }: CallOptions = {}): Buffer {
  const content = Buffer.from(body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body));
  const head = [
    `${method ?? (body === undefined ? "GET" : "POST")} ${target} HTTP/1.1`,
    "Host: simulator",
    "Connection: keep-alive",
    ...(body === undefined ? [] : [`Content-Type: ${type}`]),
    `Content-Length: ${content.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), content]);
}

/** Answers in their order; rejects once the connection is gone. */
function answersOf(socket: TLSSocket, closed: Promise<void>): () => Promise<RawAnswer> {
  let received = Buffer.alloc(0);
  const waiting: PromiseWithResolvers<RawAnswer>[] = [];
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (let parsed = parseAnswer(received); parsed !== undefined; parsed = parseAnswer(received)) {
      received = received.subarray(parsed.bytes);
      waiting.shift()?.resolve(parsed.answer);
    }
  });
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
    for (const one of waiting.splice(0)) one.reject(new Error("the connection was lost"));
  });
  return () => {
    const one = Promise.withResolvers<RawAnswer>();
    if (isClosed) one.reject(new Error("the connection was lost"));
    else waiting.push(one);
    return one.promise;
  };
}

function parseAnswer(received: Buffer): { readonly answer: RawAnswer; readonly bytes: number } | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [statusLine = "", ...lines] = received.toString("latin1", 0, end).split("\r\n");
  const headers = new Map(lines.map((line) => headerOf(line)));
  const bytes = end + 4 + Number(headers.get("content-length") ?? 0);
  if (received.length < bytes) return undefined;
  const text = received.toString("utf8", end + 4, bytes);
  return { answer: { status: Number(statusLine.split(" ")[1]), headers, text }, bytes };
}

function headerOf(line: string): [string, string] {
  const at = line.indexOf(":");
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
}
