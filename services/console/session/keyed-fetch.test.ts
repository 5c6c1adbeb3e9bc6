import { expect, test } from "vitest";
import { createClient } from "../../client/index.ts";
import { keyedFetch, NO_KEY } from "./keyed-fetch.ts";

test("the key is sent to its own origin only, in place of none, and a redirect is not followed", async () => {
  const sent: unknown[] = [];
  const fetch = keyedFetch("https://example.com", "secret", async (target, init) => {
    sent.push([new URL(target as string).href, new Headers(init?.headers).get("authorization"), init?.redirect]);
    return Response.json({ client: "anna" }, { headers: { "x-request-id": "1" } });
  });
  const client = createClient({ baseUrl: "https://example.com", apiKey: NO_KEY, fetch });
  expect((await client.query("getApiKey")).client).toBe("anna");
  expect(sent).toEqual([["https://example.com/api/v1/whoami", "Bearer secret", "manual"]]);
  await expect(fetch("https://elsewhere.example/api/v1/whoami")).rejects.not.toThrow("secret");
  expect(sent).toHaveLength(1);
});
