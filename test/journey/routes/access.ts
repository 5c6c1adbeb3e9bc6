import { expect, test } from "vitest";
import { type Document, placesOf } from "../../openapi/strict/document.ts";
import type { Client } from "../support/client.ts";
import { expectProblem } from "../support/problem.ts";

/** Every route of the document of the running system. */
export function accessRules(client: () => Client): void {
  test("every route needs a key and accepts no other method", async () => {
    const { text } = await client().send("/openapi.json", { method: "GET" });
    const places = placesOf(JSON.parse(text) as Document);
    expect(places.length).toBeGreaterThan(70);
    for (const place of places) {
      const [method, path] = [place.method.toUpperCase(), place.path.replaceAll(/\{\w+\}/g, "1")];
      const isCommand = method !== "GET" && !path.endsWith("/preview");
      const outcome = isCommand ? ({ outcome: "not_executed" } as const) : {};
      for (const authorization of ["", "Bearer nonsense", "Basic cGFtbTpwYW1t"]) {
        const reply = await client().send(path, { method, headers: { authorization } });
        expectProblem(reply, { status: 401, code: "unauthorized", ...outcome });
        expect(reply.headers.get("www-authenticate")).toBe('Bearer realm="pamm"');
      }
      const other = await client().send(path, { method: "PUT" });
      expectProblem(other, { status: 405, code: "method_not_allowed" });
      expect(other.headers.get("allow")).toContain(method);
    }
  });
}
