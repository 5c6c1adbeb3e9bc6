import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createClient as generate } from "@hey-api/openapi-ts";
import type { Document, Json } from "./document.ts";

export type Input = { readonly path?: Json; readonly query?: Json; readonly body?: Json };
export type Reply = { readonly status: number; readonly headers: Headers; readonly body: unknown };

/** Sends the request of an operation, and fails when the client does not understand the response. */
export type StrictClient = (id: string, input?: Input, headers?: Readonly<Record<string, string>>) => Promise<Reply>;

export type Server = { readonly baseUrl: string; readonly apiKey: string; readonly fetch: typeof fetch };

/** Inside of the repository, so that generated code finds its packages. */
const FOLDERS = join(import.meta.dirname, "../../../.cache/strict");

type Outcome = { readonly data?: unknown; readonly error?: unknown; readonly response?: Response };
type Sdk = Readonly<Record<string, (options: object) => Promise<Outcome>>>;

/** A client of `@hey-api/openapi-ts` with its validators of zod, which are made to refuse unknown members. */
export async function heyApiClient(document: Document, { baseUrl, apiKey, fetch }: Server): Promise<StrictClient> {
  mkdirSync(FOLDERS, { recursive: true });
  const folder = mkdtempSync(join(FOLDERS, "hey-api-"));
  try {
    await generate({
      input: document as never,
      output: { path: folder, module: { extension: ".ts" } },
      logs: { level: "silent", file: false },
      plugins: [
        "@hey-api/typescript",
        "@hey-api/client-fetch",
        "zod",
        { name: "@hey-api/sdk", validator: { response: "zod" } },
      ],
    });
    const schemas = join(folder, "zod.gen.ts");
    writeFileSync(schemas, readFileSync(schemas, "utf8").replaceAll("z.object(", "z.strictObject("));
    const load = (file: string): Promise<unknown> => import(pathToFileURL(join(folder, file)).href);
    const sdk = (await load("sdk.gen.ts")) as Sdk;
    const { createClient: connect } = (await load("client/index.ts")) as { createClient: (options: object) => object };
    const client = connect({ baseUrl, auth: apiKey, fetch });
    return async (id, input = {}, headers = {}) => replyOf(id, await sdk[id]?.({ ...input, headers, client }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function replyOf(id: string, outcome: Outcome | undefined): Reply {
  const { data, error, response } = outcome ?? {};
  if (response === undefined) throw new Error(`${id} was not sent`, { cause: error });
  if (response.ok && error !== undefined) throw new Error(`${id} was not understood`, { cause: error });
  return { status: response.status, headers: response.headers, body: data ?? error };
}
