import swagger from "@fastify/swagger";
import type { FastifyInstance, FastifySchema } from "fastify";
import { Type, type TSchema } from "typebox";
import packageFile from "#package" with { type: "json" };
import { ANY_KEY } from "./keys/scopes.ts";
import { PROBLEMS, type ProblemCode } from "./problems/problems.ts";
import { RATE_LIMIT_HEADERS } from "./rate-limit-headers.ts";
import { isCommand } from "./request-state.ts";
import { type Route, TAGS } from "./route.ts";
import { bool, choice, integer, shownSchema, string } from "./schemas/field.ts";

const PROBLEM_ID = "Problem";

const ProblemSchema = Type.Object(
  {
    type: string({ description: "URI of the problem code.", example: "urn:pamm:problem:below_min_deposit" }),
    title: string({
      description: "Short summary, the same for every occurrence.",
      example: PROBLEMS.below_min_deposit.title,
    }),
    status: integer({ description: "The HTTP status.", example: 409 }),
    detail: string({
      description: "One sentence about this occurrence, with its values.",
      example: "Investor balance 0.00 USD is below the Master's minimum deposit of 500.00 USD.",
    }),
    instance: string({ description: "Path of the request.", example: "/api/v1/investor/assign" }),
    code: string({ description: "Stable code to branch on.", example: "below_min_deposit" }),
    request_id: string({
      description: "Id of the request, as in X-Request-Id.",
      example: "0198c0de-0000-7000-8000-000000000000",
    }),
    retryable: bool({
      description: "Nothing was executed, and the same request may succeed later.",
      example: false,
    }),
    operation_id: Type.Optional(
      string({
        description: "Operation that the problem is about, or that blocks the request.",
        example: "0198c0de-0000-7000-8000-000000000001",
      }),
    ),
    outcome: Type.Optional(
      choice(["not_executed", "unknown"], {
        description: "Known effect: `not_executed`, or `unknown`.",
        example: "not_executed",
      }),
    ),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          field: string({ description: "Path of the field.", example: "perf_fee.rate" }),
          code: string({ description: "Stable reason.", example: "out_of_range" }),
          message: string({
            description: "One sentence that says what is wrong.",
            example: "perf_fee.rate must be from 0 to 1.",
          }),
        }),
        { description: "All invalid fields." },
      ),
    ),
  },
  {
    $id: PROBLEM_ID,
    description: "RFC 9457. Some codes have additional members, such as required and actual.",
    additionalProperties: true,
  },
);

const INTRODUCTION = `HTTP interface for managing Masters, Investors, subscriptions, capital movements and performance fees.

Send \`Authorization: Bearer <API key>\`. Every response has \`X-Request-Id\`; responses to commands have \`X-Operation-Id\`. Errors are problem bodies (RFC 9457) with a stable \`code\`.`;

/** Must come before the routes, because each is documented when it is registered. */
export async function documentRoutes(app: FastifyInstance): Promise<void> {
  app.addSchema(ProblemSchema);
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "PAMM Integration Service", version: packageFile.version, description: INTRODUCTION },
      tags: TAGS.map((name) => ({ name })),
      components: { securitySchemes: { apiKey: { type: "http", scheme: "bearer", description: "An API key." } } },
    },
    exposeHeadRoutes: false,
    refResolver: { buildLocalReference: ({ $id }) => (typeof $id === "string" ? $id : "Unnamed") },
    transform: ({ schema, url, route }) => ({ schema: shown(schema, route.config?.route), url }),
  });
}

/** The document at /openapi.json, without a key. */
export async function serveDocumentation(app: FastifyInstance): Promise<void> {
  app.get("/openapi.json", { schema: { hide: true } }, async (_request, reply) => {
    return reply.type("application/json; charset=utf-8").send(JSON.stringify(app.swagger()));
  });
}

/** Problems are only documented: their bodies are written by hand, and no serialiser has to be made for each of them. */
function shown(schema: FastifySchema, route: Route | undefined): FastifySchema {
  const parts = ["params", "querystring", "body", "headers", "response"] as const;
  const present = parts.filter((part) => schema?.[part] !== undefined);
  const converted = Object.fromEntries(present.map((part) => [part, shownSchema(schema[part] as TSchema)]));
  if (route === undefined) return { ...schema, ...converted };
  const { 200: answer } = converted["response"] as { readonly 200: TSchema };
  const ofCommand = isCommand(route) ? headersOf(route) : {};
  const headers = {
    headers: { ...ofCommand, ...route.replyHeaders, "X-Ignored-Fields": IGNORED, ...RATE_LIMIT_HEADERS },
  };
  const response = {
    200: { description: "The request succeeded.", ...headers, ...answer },
    ...problemResponses(route),
  };
  return { ...schema, ...converted, response };
}

const OPERATION_ID = {
  type: "string",
  format: "uuid",
  description: "Id of the operation; the first one when the request is repeated with its Idempotency-Key.",
};
const REPLAYED = {
  type: "string",
  enum: ["true"],
  description: "The request was executed before with this Idempotency-Key; this is its result.",
};
const POSSIBLE_DUPLICATE = {
  type: "string",
  pattern: "^[0-9]+$",
  description: "Deal ticket of an identical deposit or withdrawal of this client within the last 24 hours.",
};

const IGNORED = {
  type: "string",
  description: "Names of query parameters and body members that were sent and are not known, percent-encoded.",
};

function headersOf({ refusals, replyHeaders }: Route): Record<string, unknown> {
  return {
    ...replyHeaders,
    "X-Operation-Id": OPERATION_ID,
    "Idempotency-Replayed": REPLAYED,
    ...(refusals.includes("possible_duplicate") ? { "X-Possible-Duplicate-Of": POSSIBLE_DUPLICATE } : {}),
  };
}

const ANY_ROUTE: readonly ProblemCode[] = [
  "bad_request",
  "unauthorized",
  "url_too_long",
  "validation_failed",
  "rate_limited",
  "internal_error",
  "service_unavailable",
];
const WITH_BODY: readonly ProblemCode[] = ["malformed_json", "unsupported_media_type"];
const COMMANDS: readonly ProblemCode[] = [
  "body_too_large",
  "idempotency_key_reused",
  "operation_in_progress",
  "outcome_unknown",
];
const SPECIAL_OF_FIELD: Readonly<Record<string, readonly ProblemCode[]>> = {
  cursor: ["invalid_cursor"],
  amount: ["amount_precision"],
  min_deposit: ["amount_precision"],
  currency: ["currency_not_supported"],
};

/** The problems that a route can answer, by status. */
function problemResponses(route: Route): Record<string, unknown> {
  const byStatus = Map.groupBy(codesOf(route), (code) => PROBLEMS[code].status);
  const responses = [...byStatus].map(([status, codes]) => {
    const description = codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join("\n\n");
    return [status, { description, content: { "application/problem+json": { schema: { $ref: `${PROBLEM_ID}#` } } } }];
  });
  return Object.fromEntries(responses);
}

function codesOf(route: Route): ReadonlySet<ProblemCode> {
  const fields = { ...route.params?.properties, ...route.query?.properties, ...route.body?.properties };
  const special = Object.keys(fields).flatMap((field) => SPECIAL_OF_FIELD[field] ?? []);
  return new Set([
    ...ANY_ROUTE,
    ...(route.body === undefined ? [] : WITH_BODY),
    ...(route.scope === ANY_KEY ? [] : (["insufficient_scope"] as const)),
    ...special,
    ...route.refusals,
    ...(isCommand(route) ? COMMANDS : []),
  ]);
}
