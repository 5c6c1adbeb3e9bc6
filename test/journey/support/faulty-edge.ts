import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

/** A fault of the connection between a client and the edge; `forward` sends the request to the edge. */
export type Fault = (response: ServerResponse, forward: () => Promise<Response>) => unknown;

export type FaultyEdge = AsyncDisposable & {
  readonly url: string;
  /** The next requests that match meet these faults, one each. */
  readonly meet: (path: string, ...faults: readonly Fault[]) => void;
  /** What was received, such as "POST /api/v1/investor/deposit key-1". */
  readonly seen: readonly string[];
};

/** The request is executed, and its answer is lost. */
export const loseAnswer: Fault = async (response, forward) => {
  await (await forward()).text();
  response.socket?.resetAndDestroy();
};

/** The request never arrives. */
export const loseRequest: Fault = (response) => response.socket?.resetAndDestroy();

/** Nothing was executed, and a later attempt may be. */
export const unavailable: Fault = (response) =>
  writeProblem(response, 503, { code: "service_unavailable", retryable: true, outcome: "not_executed" });

/** The request is executed while the answer says that this is not known. */
export const unknownOutcome: Fault = async (response, forward) => {
  const { headers } = await forward();
  const operation = headers.get("x-operation-id");
  writeProblem(response, 504, {
    code: "outcome_unknown",
    retryable: false,
    outcome: "unknown",
    operation_id: operation,
  });
};

function writeProblem(response: ServerResponse, status: number, members: object): void {
  const headers = { "content-type": "application/problem+json", "retry-after": "1" };
  response.writeHead(status, headers).end(JSON.stringify({ status, detail: "A planted fault.", ...members }));
}

/** A proxy in front of an edge. */
export async function startFaultyEdge(edge: string): Promise<FaultyEdge> {
  const seen: string[] = [];
  const faults: { readonly path: string; readonly fault: Fault }[] = [];
  const server = createServer((request, response) => {
    const { method = "", url = "", headers } = request;
    const [path = ""] = url.split("?");
    seen.push([method, path, headers["idempotency-key"]].join(" ").trim());
    const forward = async (): Promise<Response> => {
      const body = method === "GET" ? undefined : await buffer(request);
      return await fetch(edge + url, { method, headers: forwarded(headers), ...(body === undefined ? {} : { body }) });
    };
    const index = faults.findIndex((each) => each.path === path);
    const [next] = index < 0 ? [] : faults.splice(index, 1);
    void Promise.resolve((next?.fault ?? pass)(response, forward)).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    meet: (path, ...next) => faults.push(...next.map((fault) => ({ path, fault }))),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Headers of the one connection are not those of the other. */
const OF_CONNECTION = new Set(["host", "connection", "content-length", "transfer-encoding", "keep-alive"]);

function forwarded(headers: IncomingHttpHeaders | Headers): Record<string, string> {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  return Object.fromEntries(
    entries.filter(([name]) => !OF_CONNECTION.has(name)).map(([name, value]) => [name, String(value)]),
  );
}

const pass: Fault = async (response, forward) => {
  const answer = await forward();
  response.writeHead(answer.status, forwarded(answer.headers));
  if (answer.body === null) response.end();
  else Readable.from(answer.body).pipe(response);
};
