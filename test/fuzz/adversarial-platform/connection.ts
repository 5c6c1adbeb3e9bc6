import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/** One connection of a client. */
export type Connection = {
  readonly tls: TLSSocket;
  readonly raw: Socket;
  isSignedIn: boolean;
  /** Challenge of a handshake that has begun. */
  challenge: string | undefined;
  /** Delayed answers, sent before the next one. */
  readonly kept: Buffer[];
  /** The last answer to a command that moved money. */
  lastMoneyAnswer: Buffer | undefined;
};

export type Request = {
  readonly method: string;
  /** Below /api/. */
  readonly path: string;
  /** Query and body together, names in lower case; the body wins. */
  readonly parameters: Readonly<Record<string, string>>;
};

/** Splits the bytes of a connection into requests; invalid bytes throw. */
export function readRequests(line: Connection, take: (request: Request) => void): void {
  let pending = Buffer.alloc(0);
  line.tls.on("data", (bytes: Buffer) => {
    pending = Buffer.concat([pending, bytes]);
    for (;;) {
      const end = pending.indexOf("\r\n\r\n");
      if (end < 0) return;
      const [first = "", ...headers] = pending.subarray(0, end).toString("latin1").split("\r\n");
      const length = Number(/^content-length: *(\d+)$/im.exec(headers.join("\n"))?.[1] ?? 0);
      if (pending.length < end + 4 + length) return;
      const body = pending.subarray(end + 4, end + 4 + length).toString("utf8");
      pending = pending.subarray(end + 4 + length);
      const [, method = "", path = "", search = ""] =
        /^(GET|POST) \/api\/([^ ?]*)(?:\?([^ ]*))? HTTP\/1\.1$/.exec(first) ?? [];
      take({ method, path, parameters: { ...queryOf(search), ...bodyOf(body) } });
    }
  });
}

/** Percent encoding first, then the platform's own escape: a backslash before = | \ and a line feed. */
function queryOf(search: string): Record<string, string> {
  const pairs = search.split("&").filter((pair) => pair !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      const value = decodeURIComponent(pair.slice(at + 1)).replaceAll(/\\([=|\\\n])/g, "$1");
      return [pair.slice(0, at).toLowerCase(), value];
    }),
  );
}

function bodyOf(body: string): Record<string, string> {
  if (body === "") return {};
  const members = Object.entries(JSON.parse(body) as Record<string, string>);
  return Object.fromEntries(members.map(([name, value]) => [name.toLowerCase(), value]));
}

export function httpAnswer(body: string | Buffer, { status = "200 OK", headers = "" } = {}): Buffer {
  const content = Buffer.isBuffer(body) ? body : Buffer.from(body, "utf8");
  const type = headers.includes("Content-Type") ? "" : "Content-Type: application/json\r\n";
  return Buffer.concat([
    Buffer.from(
      `HTTP/1.1 ${status}\r\nServer: Adversarial\r\n${type}${headers}Content-Length: ${content.length}\r\n\r\n`,
    ),
    content,
  ]);
}

export const FORBIDDEN = httpAnswer("403 Forbidden", {
  status: "403 Forbidden",
  headers: "Content-Type: text/plain\r\n",
});

/** Writes delayed answers first; does nothing on a closed connection. */
export function send(line: Connection, bytes: Buffer): void {
  if (!line.tls.writable) return;
  for (const kept of line.kept.splice(0)) line.tls.write(kept);
  line.tls.write(bytes);
}

/** Resets TCP, as a crash or a firewall does: queued data is lost. */
export function reset(line: Connection): void {
  if (!line.raw.destroyed) line.raw.resetAndDestroy();
  line.raw.destroy();
}
