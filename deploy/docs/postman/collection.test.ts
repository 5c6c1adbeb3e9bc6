import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import type * as HarSdk from "@har-sdk/validator";
import { expect, test } from "vitest";
import { openApiDocument } from "../openapi/document.ts";
import { isCommand } from "../../../services/edge/http/route.ts";
import { DOCUMENTED_ROUTES } from "../../../services/edge/api/documented-routes.ts";
import { type Answer, testEdge } from "../../../services/edge/testing/test-edge.ts";
import { postmanCollection } from "./collection.ts";
import type { OpenApi } from "./open-api.ts";

// Its exports are not among those that Node finds in a CommonJS module without running it.
const { PostmanValidator } = createRequire(import.meta.url)("@har-sdk/validator") as typeof HarSdk;

type Pair = { readonly key: string; readonly value: string; readonly disabled?: true };
type Item = {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly header: readonly Pair[];
    readonly url: {
      readonly path: readonly string[];
      readonly query?: readonly Pair[];
      readonly variable?: readonly Pair[];
    };
    readonly body?: { readonly raw: string };
  };
  readonly response: readonly { readonly body: string }[];
};
type Collection = {
  readonly info: object;
  readonly item: readonly { readonly name: string; readonly item: readonly Item[] }[];
};

const collection = postmanCollection(openApiDocument(DOCUMENTED_ROUTES) as OpenApi) as Collection;
const items = collection.item.flatMap(({ item }) => item);

test("the collection is valid by the schema of Postman, and a planted defect is not", async () => {
  const check = async (made: object) => await new PostmanValidator().verify(made as never);

  expect(await check(collection)).toEqual([]);
  expect(await check({ ...collection, item: [{ name: "A request", request: { url: 7 } }] })).not.toEqual([]);
});

test("it has every operation once, in the folder of its tag", () => {
  const found = collection.item.flatMap(({ name, item }) =>
    item.map(({ request: { method, url } }) => `${name}: ${method} /${url.path.join("/")}`),
  );

  expect(found.toSorted()).toEqual(
    DOCUMENTED_ROUTES.map(({ tag, method, url }) => `${tag}: ${method} ${url}`).toSorted(),
  );
});

test("commands have a new Idempotency-Key each time, and queries none", () => {
  const commands = DOCUMENTED_ROUTES.filter(isCommand).map(({ method, url }) => `${method} ${url}`);
  const withKey = items.filter(({ request }) => request.header.some(({ key }) => key === "Idempotency-Key"));

  expect(withKey.map(({ request: { method, url } }) => `${method} /${url.path.join("/")}`).toSorted()).toEqual(
    commands.toSorted(),
  );
  for (const { request } of withKey) {
    expect(request.header.find(({ key }) => key === "Idempotency-Key")?.value).toBe("{{$guid}}");
  }
});

test.for(items)("the edge finds nothing wrong with the request as it is imported: $name", async ({ request }) => {
  const { status, headers } = await send(request);

  // No service answers here. What is wrong with a request is answered before one is asked.
  expect([200, 500, 503, 504]).toContain(status);
  expect(headers["x-ignored-fields"]).toBeUndefined();
});

test("a request without its body would be refused", async () => {
  const [withBody] = items.filter(({ request }) => request.body !== undefined);
  const { body: _, ...request } = withBody?.request ?? items[0]!.request;

  expect((await send(request)).status).toBe(400);
});

const idempotency = {
  keptMs: 1,
  claim: async () => ({ commandId: randomUUID(), isRepeated: false, wasDone: false }),
  execute: async <T>(_claim: unknown, work: () => Promise<T>) => await work(),
};

/** As Postman sends it, with the variables of the path and without what is disabled. */
async function send({ method, url, header, body }: Item["request"]): Promise<Answer> {
  const valueOf = (name: string): string => url.variable?.find(({ key }) => key === name)?.value ?? "";
  const path = url.path.map((segment) => segment.replace(/^:(.*)$/, (_, name: string) => valueOf(name))).join("/");
  const query = (url.query ?? []).filter(({ disabled }) => disabled !== true);
  const search = query.map(({ key, value }) => `${key}=${encodeURIComponent(value)}`).join("&");
  const { call } = await testEdge({ app: { idempotency } });
  return await call({
    method,
    url: search === "" ? `/${path}` : `/${path}?${search}`,
    headers: Object.fromEntries(header.map(({ key, value }) => [key, value.replace("{{$guid}}", randomUUID())])),
    ...(body === undefined ? {} : { payload: body.raw }),
  });
}
