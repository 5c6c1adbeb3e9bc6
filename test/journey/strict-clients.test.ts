import { beforeAll, expect, test } from "vitest";
import { type Exchange, responseChecks, type ResponseChecks } from "../openapi/strict/check-responses.ts";
import { heyApiClient, type Server } from "../openapi/strict/clients.ts";
import { type Document, placesOf } from "../openapi/strict/document.ts";
import { type Client, clientOf } from "./support/client.ts";
import { sharedSystem, START_TIMEOUT_MS } from "./support/shared-system.ts";
import { liveThrough } from "./support/strict-life.ts";

let document: Document;
let platform: Client;
let server: Omit<Server, "fetch">;

beforeAll(async () => {
  const { url, apiKey } = (await sharedSystem()).info();
  platform = clientOf(await sharedSystem());
  document = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  server = { baseUrl: url, apiKey };
}, START_TIMEOUT_MS);

/** What a fetch of the running system answers is compared with its document. */
function checkedFetch({ complaints }: ResponseChecks, found: string[]): typeof fetch {
  return async (...input) => {
    const request = new Request(...input);
    const { method, url } = request;
    const response = await fetch(request);
    const { status, headers } = response;
    const text = await response.clone().text();
    const exchange: Exchange = { method, pathname: new URL(url).pathname, status, headers, text };
    found.push(...complaints(exchange));
    return response;
  };
}

test("a generated client lives through every operation, and every response is what the document of the same system says: status, headers, each member and no other", async () => {
  const checks = responseChecks(document);
  const complaints: string[] = [];
  const client = await heyApiClient(document, { ...server, fetch: checkedFetch(checks, complaints) });
  await liveThrough(client, platform);

  expect([...new Set(complaints)]).toEqual([]);
  const called = new Set([...checks.seen].map((line) => line.split(" ")[0]));
  expect(
    placesOf(document)
      .map(({ id }) => id)
      .filter((id) => !called.has(id)),
  ).toEqual([]);
}, 200_000);
