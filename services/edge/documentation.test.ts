import { expect, test } from "vitest";
import { PROBLEMS } from "./problems/problems.ts";
import { ROUTES } from "./routes.ts";
import { testEdge } from "./testing/test-edge.ts";

type Schema = {
  type?: string | string[];
  description?: string;
  examples?: unknown[];
  properties?: Record<string, Schema>;
  items?: Schema;
};
type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: Schema };
type Operation = {
  summary: string;
  description: string;
  tags: string[];
  security: unknown[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
};
type Document = {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, unknown> };
};

async function readDocument(): Promise<Document> {
  const edge = await testEdge();
  const response = await edge.app.inject({ url: "/openapi.json" });
  expect(response.statusCode).toBe(200);
  return response.json();
}

const operationsOf = ({ paths }: Document): [string, Operation][] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );

test("every route is documented, and nothing else", async () => {
  const document = await readDocument();
  const routes = ROUTES.map(({ method, url }) => `${method} ${url.replaceAll(/:([a-z0-9_]+)/g, "{$1}")}`);

  expect(document.openapi).toBe("3.1.0");
  expect(
    operationsOf(document)
      .map(([name]) => name)
      .toSorted(),
  ).toEqual(routes.toSorted());
  expect(routes).toHaveLength(34);
});

test("every field of every request and answer has a description and an example", async () => {
  const document = await readDocument();
  const undocumented: string[] = [];
  const visit = (schema: Schema, path: string): void => {
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const isLeaf = field.properties === undefined && field.items === undefined;
      if (isLeaf && (field.description === undefined || field.examples === undefined || field.type === undefined)) {
        undocumented.push(`${path}.${name}`);
      }
      visit(field, `${path}.${name}`);
    }
    if (schema.items !== undefined) visit(schema.items, `${path}[]`);
  };
  for (const [name, operation] of operationsOf(document)) {
    for (const parameter of operation.parameters ?? []) {
      if (parameter.description === undefined || parameter.schema.type === undefined) {
        undocumented.push(`${name}?${parameter.name}`);
      }
    }
    for (const { schema } of Object.values(operation.requestBody?.content ?? {})) visit(schema, `${name} body`);
    for (const { schema } of Object.values(operation.responses["200"]?.content ?? {})) visit(schema, `${name} 200`);
  }
  visit(document.components.schemas["Problem"] ?? {}, "Problem");

  expect(undocumented).toEqual([]);
});

test("every operation has a summary, requires the key, and documents its problems by status and code", async () => {
  const document = await readDocument();
  const deposit = document.paths["/api/v1/investor/deposit"]?.["post"];

  for (const [name, { summary, description, tags, security, responses }] of operationsOf(document)) {
    const isForAnyKey = name === "GET /api/v1/whoami";
    const scope = isForAnyKey ? "Scope: none, any valid key." : "Scope: `";
    expect([name, summary.length > 0, description.includes(scope), tags.length, security]).toEqual([
      name,
      true,
      true,
      1,
      [{ apiKey: [] }],
    ]);
    expect(responses["200"]?.description, name).not.toBe("Default Response");
    for (const status of ["401", ...(isForAnyKey ? [] : ["403"]), "422", "429", "500", "503"]) {
      expect(Object.keys(responses[status]?.content ?? {}), `${name} ${status}`).toEqual(["application/problem+json"]);
    }
  }
  expect(Object.keys(deposit?.responses ?? {})).toEqual([
    "200",
    "400",
    "401",
    "403",
    "404",
    "409",
    "413",
    "414",
    "422",
    "429",
    "500",
    "502",
    "503",
    "504",
  ]);
  expect(deposit?.responses["409"]?.description).toBe(
    "`operation_in_progress`: An identical operation is still being processed.\n\n`possible_duplicate`: An identical operation was executed recently.\n\n`account_busy`: Another operation on this account is in progress.\n\n`insufficient_funds`: Insufficient funds.",
  );
});

test("the headers of commands are documented; queries have none", async () => {
  const document = await readDocument();
  const deposit = document.paths["/api/v1/investor/deposit"]?.["post"];
  const list = document.paths["/api/v1/operations"]?.["get"];
  const update = document.paths["/api/v1/master/{master_id}"]?.["patch"];
  const headersOf = (operation: typeof deposit) =>
    operation?.parameters
      ?.filter((parameter) => parameter.in === "header")
      .map(({ name, required }) => [name, required]);

  // An optional parameter is not documented as required.
  expect(headersOf(deposit)).toEqual([["Idempotency-Key", false]]);
  expect(headersOf(update)).toEqual([["Idempotency-Key", false]]);
  expect(headersOf(list)).toEqual([]);
  const answer = deposit?.responses["200"] as { readonly headers?: object } | undefined;
  expect(Object.keys(answer?.headers ?? {})).toEqual([
    "X-Operation-Id",
    "Idempotency-Replayed",
    "X-Possible-Duplicate-Of",
    "X-Ignored-Fields",
    "RateLimit-Policy",
    "RateLimit",
  ]);
  const withdrawal = document.paths["/api/v1/investor/withdraw"]?.["post"]?.responses["200"] as typeof answer;
  expect(Object.keys(withdrawal?.headers ?? {})).toContain("X-Held-Back");
});

test("the documentation contains what callers send and receive, without internal keywords", async () => {
  const document = await readDocument();
  const parameters = document.paths["/api/v1/master/directory"]?.["get"]?.parameters ?? [];
  const balance = document.paths["/api/v1/info/balance/{mt5_login}"]?.["get"]?.responses["200"];

  expect(parameters.map(({ name, in: location, required, schema }) => [name, location, required, schema.type])).toEqual(
    [
      ["engine", "query", true, "string"],
      ["limit", "query", false, "integer"],
      ["cursor", "query", false, "string"],
    ],
  );
  expect(balance?.content?.["application/json"]?.schema.properties?.["balance"]).toEqual({
    type: ["number", "null"],
    description: "Balance in USD; null when it could not be read.",
    examples: [250.5],
  });
  expect(JSON.stringify(document)).not.toMatch(/x-check|x-shown/);
});

test("every documented code has a status, a title and no internal words", () => {
  for (const [code, { status, title }] of Object.entries(PROBLEMS)) {
    expect([code, /^[a-z_]+$/.test(code), status >= 400 && status < 600, title.length > 0]).toEqual([
      code,
      true,
      true,
      true,
    ]);
  }
});
