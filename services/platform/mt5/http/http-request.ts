import type { Secret } from "#kernel/values/secret.ts";
import { encodeQuery } from "../codec.ts";

/** One call of the Web API. Secrets are in the body only, because servers log URLs. */
export type Mt5Request = {
  readonly method: "GET" | "POST";
  /** Below /api/, for example trade/balance. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, string | Secret<string>>>;
};

export type RequestHead = {
  readonly host: string;
  readonly cookie: string | undefined;
};

const USER_AGENT = "pamm-integration-service";

/** The whole request as one buffer, so that it is handed to the socket in one write. */
export function encodeRequest({ method, path, query, body }: Mt5Request, head: RequestHead): Buffer {
  const content = Buffer.from(body === undefined ? "" : JSON.stringify(revealed(body)), "utf8");
  const search = query === undefined ? "" : `?${encodeQuery(query)}`;
  const lines = [
    `${method} /api/${path}${search} HTTP/1.1`,
    `Host: ${head.host}`,
    `User-Agent: ${USER_AGENT}`,
    "Accept: application/json",
    "Accept-Encoding: identity",
    "Connection: keep-alive",
    ...(head.cookie === undefined ? [] : [`Cookie: ${head.cookie}`]),
    ...(method === "GET" ? [] : ["Content-Type: application/json", `Content-Length: ${content.length}`]),
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), content]);
}

function revealed(body: Readonly<Record<string, string | Secret<string>>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, typeof value === "string" ? value : value.reveal()]),
  );
}
