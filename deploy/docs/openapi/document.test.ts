import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { PROBLEMS, type ProblemCode } from "../../../services/edge/problems/problems.ts";
import { requiredScopes } from "../../../services/edge/wire/scopes.ts";
import { isCommand } from "../../../services/edge/http/route.ts";
import { DOCUMENTED_ROUTES } from "../../../services/edge/api/documented-routes.ts";
import { openApiDocument } from "./document.ts";
import { codesOf } from "./problem-codes.ts";
import { pathOf } from "./problem-responses.ts";
import { pascal } from "./problem-schemas.ts";
import {
  at,
  type Document,
  eachSchema,
  operationsOf,
  type Problem,
  resolve,
  type Response,
} from "./testing/read-document.ts";

const document = openApiDocument(DOCUMENTED_ROUTES) as unknown as Document;
const operations = operationsOf(document);
const routeOf = (name: string) => DOCUMENTED_ROUTES.find(({ operationId }) => operationId === name)!;

test("every route is documented in its order, and nothing else", () => {
  const documented = operations.map(({ method, path, operationId }) => `${method} ${path} ${operationId}`);
  const routes = DOCUMENTED_ROUTES.map(
    ({ method, url, operationId }) => `${method} ${url.replaceAll(/:([a-z0-9_]+)/g, "{$1}")} ${operationId}`,
  );

  expect(document.openapi).toBe("3.1.0");
  expect(documented.toSorted()).toEqual(routes.toSorted());
});

const VERBS =
  /^(assign|cancel|close|create|decide|delete|deposit|erase|get|list|preview|register|replay|rotate|start|unassign|update|withdraw)[A-Z][A-Za-z]+$/;

test("every operation id is a verb with a noun, and none is used twice", () => {
  const ids = DOCUMENTED_ROUTES.map(({ operationId }) => operationId);

  expect(ids.filter((id) => !VERBS.test(id))).toEqual([]);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

const MODELS = (
  "Master MasterDetails Investor Subscription FeeConfiguration FeePayment PaymentCredit Operation Leg Break Review " +
  "Proof Deposit Withdrawal Balance Problem"
).split(" ");

test("every body and every answer is a named model, or a list of one", () => {
  const schemas = operations.flatMap(({ operationId, requestBody, responses }) => [
    ...(requestBody === undefined ? [] : [[operationId, requestBody.content["application/json"]?.schema] as const]),
    [operationId, at(responses, "200").content?.["application/json"]?.schema] as const,
  ]);
  const anonymous = schemas.filter(([, schema]) => schema?.$ref === undefined && schema?.items?.$ref === undefined);

  expect(anonymous.map(([name]) => name)).toEqual([]);
  expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(MODELS));
});

test("every field has a type and an example, and a description of more than one word", () => {
  const lacking: string[] = [];
  eachSchema(document, (schema, path) => {
    const { description, $ref } = schema;
    const isLeaf = schema.properties === undefined && schema.items === undefined && schema.anyOf === undefined;
    if ($ref === undefined && (description === undefined || !description.trim().includes(" "))) lacking.push(path);
    const isShown = schema.type !== undefined && schema.examples !== undefined;
    if ($ref === undefined && isLeaf && !isShown) lacking.push(path);
  });

  expect(lacking).toEqual([]);
});

test("every value of a set has its meaning, also in the description", () => {
  const sets: string[] = [];
  eachSchema(document, (schema, path) => {
    const { enum: values, "x-enum-descriptions": meanings, description = "" } = schema;
    if (values === undefined) return;
    sets.push(path);
    expect([path, meanings?.length]).toEqual([path, values.length]);
    for (const value of values) expect(description, path).toContain(`\`${value}\``);
  });

  expect(sets.length).toBeGreaterThan(15);
});

test("integers of 64 bits have their format, and times have none that they would break", () => {
  eachSchema(document, ({ type, format }, path) => {
    if (
      /(^|[._])(deal_ids?|id|cursor|next_cursor|mt5_op_id|mt5_transfer_id)$/.test(path) &&
      [type].flat().includes("integer")
    ) {
      expect([path, format]).toEqual([path, "int64"]);
    }
  });

  expect(JSON.stringify(document)).not.toContain('"date-time"');
});

test("every operation has a tag that is described, and the scopes of its route", () => {
  for (const { operationId, summary, tags, security, "x-required-scopes": scopes } of operations) {
    expect(scopes, operationId).toEqual(requiredScopes(routeOf(operationId)));
    expect(security, operationId).toEqual([{ apiKey: [] }]);
    expect(document.tags.map(({ name }) => name)).toEqual(expect.arrayContaining([...tags]));
    expect([operationId, summary.length > 0]).toEqual([operationId, true]);
    for (const one of scopes) expect(document.components.securitySchemes.apiKey.description).toContain(`\`${one}\``);
  }
});

test("every problem of an operation has its schema and its own example at its status", () => {
  for (const { operationId, responses } of operations) {
    const route = routeOf(operationId);
    const documented = Object.entries(responses).flatMap(([status, response]) =>
      status === "200" || status === "202" ? [] : problemsIn(Number(status), resolve(document, response)),
    );
    expect(documented.toSorted(), operationId).toEqual([...codesOf(route)].toSorted());
  }
});

function problemsIn(status: number, { content, description }: Response): string[] {
  const { schema, examples } = at(content ?? {}, "application/problem+json");
  const codes = Object.entries(examples ?? {}).map(([code, { value }]) => {
    const { code: own, status: ownStatus, type } = value as Problem;
    expect([own, ownStatus, type]).toEqual([code, status, `/docs/problems/${code}`]);
    expect(PROBLEMS[code as ProblemCode].status).toBe(status);
    expect(description).toContain(`\`${code}\`: `);
    return code;
  });
  const names = (schema.oneOf ?? [schema]).map(({ $ref = "" }) => $ref.split("/").at(-1));
  expect(names).toEqual(codes.map((code) => `${pascal(code)}Problem`));
  return codes;
}

test("the example of a problem is about its operation: the path, the outcome and the wrong field", () => {
  for (const { operationId, responses } of operations) {
    const route = routeOf(operationId);
    const { examples } = at(resolve(document, at(responses, "422")).content ?? {}, "application/problem+json");
    const { instance, outcome, errors } = at(examples ?? {}, "validation_failed").value as Problem;
    const fields = { ...route.params?.properties, ...route.query?.properties, ...route.body?.properties };
    expect([operationId, instance, outcome]).toEqual([
      operationId,
      pathOf(route),
      isCommand(route) ? "not_executed" : undefined,
    ]);
    expect([...Object.keys(fields), "trace"]).toContain(errors?.[0]?.field);
  }
});

test("a problem about the operation in the path names that one", () => {
  const about = operations.flatMap(({ responses }) =>
    Object.values(responses).flatMap((response) => {
      const { examples = {} } = resolve(document, response).content?.["application/problem+json"] ?? {};
      return Object.values(examples)
        .map(({ value }) => value as Problem & { readonly detail: string; readonly operation_id?: string })
        .filter(({ code, instance }) => ABOUT_PATH.has(code) && instance.startsWith("/api/v1/operations/"));
    }),
  );
  expect(new Set(about.map(({ code }) => code))).toEqual(ABOUT_PATH);
  for (const { instance, detail, operation_id: named } of about) {
    const [id] = /[0-9a-f-]{36}/.exec(instance) ?? [];
    expect(/[0-9a-f-]{36}/.exec(detail)?.[0] ?? named).toBe(id);
  }
});

const ABOUT_PATH: ReadonlySet<string> = new Set(["operation_not_found", "operation_not_cancellable"]);

test("headers of requests and answers are declared", () => {
  const { post: deposit } = at(document.paths, "/api/v1/investor/deposit");
  const { get: list } = at(document.paths, "/api/v1/operations");
  const sent = (operation: typeof deposit) =>
    operation?.parameters
      .map((one) => resolve(document, one))
      .filter((one) => one.in === "header")
      .map(({ name }) => name);
  const answered = (operation: typeof deposit, status: string) =>
    Object.keys(resolve(document, at(operation?.responses ?? {}, status)).headers ?? {});

  expect(sent(deposit)).toEqual(["X-Request-Id", "Idempotency-Key"]);
  expect(sent(list)).toEqual(["X-Request-Id"]);
  expect(answered(deposit, "200")).toEqual([
    "X-Request-Id",
    "X-Operation-Id",
    "Idempotency-Replayed",
    "X-Possible-Duplicate-Of",
    "X-Ignored-Fields",
    "RateLimit-Policy",
    "RateLimit",
  ]);
  expect(answered(deposit, "409")).toEqual([
    "X-Request-Id",
    "X-Operation-Id",
    "Retry-After",
    "RateLimit-Policy",
    "RateLimit",
  ]);
  expect(answered(list, "408")).toEqual(["X-Request-Id", "Retry-After"]);
  expect(answered(list, "401")).toEqual(["X-Request-Id", "WWW-Authenticate"]);
  expect(answered(list, "405")).toEqual(["X-Request-Id", "Allow"]);
  expect(answered(deposit, "401")).toEqual(["X-Request-Id", "X-Operation-Id", "WWW-Authenticate"]);
  expect(answered(deposit, "417")).toEqual(["X-Request-Id"]);
  expect(answered(list, "429")).toEqual(["X-Request-Id", "Retry-After", "RateLimit-Policy", "RateLimit"]);
});

/** Compressed, on average. */
const MAX_BYTES_PER_ROUTE = 1_445;

test("the document has no keyword of the validation, and stays small", () => {
  const text = JSON.stringify(document);

  expect(text).not.toMatch(/x-check|x-shown|x-model|x-summary/);
  expect(gzipSync(text).length).toBeLessThan(MAX_BYTES_PER_ROUTE * DOCUMENTED_ROUTES.length);
});
