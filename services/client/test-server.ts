import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Seen = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

/** One answer, or something that happens instead. */
export type Scripted = (response: ServerResponse) => void;

export type TestServer = AsyncDisposable & { readonly url: string; readonly seen: readonly Seen[] };

/** Answers the requests one after the other as the script says, and the last answer again from then on. */
export async function scriptedServer(...script: readonly Scripted[]): Promise<TestServer> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (bytes: Buffer) => (body += bytes.toString()));
    request.on("end", () => {
      seen.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
      (script[seen.length - 1] ?? script.at(-1))?.(response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export function answer(body: unknown, { status = 200, headers = {} } = {}): Scripted {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return (response) => response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
}

export function problem(status: number, code: string, members: object = {}, headers: object = {}): Scripted {
  const text = JSON.stringify({ code, status, detail: "Because.", retryable: false, ...members });
  return (response) => response.writeHead(status, { "content-type": "application/problem+json", ...headers }).end(text);
}

/** The request was received, and the connection breaks. */
export const cut: Scripted = (response) => void response.socket?.resetAndDestroy();

export const gateway: Scripted = (response) =>
  response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad gateway</html>");
