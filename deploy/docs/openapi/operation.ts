import { isCommand } from "../../../services/edge/http/route.ts";
import { requiredScopes } from "../../../services/edge/wire/scopes.ts";
import type { DocumentedRoute, WholeExchange } from "../../../services/edge/api/exchange.ts";
import type { Components, Json } from "./components.ts";
import { type AnswerHeader, answerHeaders, requestHeaders } from "./headers.ts";
import { pascal } from "./problem-schemas.ts";
import { problemResponses } from "./problem-responses.ts";
import { documented } from "./schema.ts";

export function operationOf(route: DocumentedRoute, components: Components): Json {
  const { operationId, tag, summary, description } = route;
  const scopes = requiredScopes(route);
  return {
    operationId,
    tags: [tag],
    summary,
    description: `${description} Scope: ${scopes.map((one) => `\`${one}\``).join(" or ") || "none, any valid key"}.`,
    security: [{ apiKey: [] }],
    // One of these is enough. Linters permit scopes in `security` only for OAuth.
    "x-required-scopes": scopes,
    parameters: parametersOf(route, components),
    ...(route.body === undefined ? {} : { requestBody: bodyOf(route, components) }),
    responses: {
      200: answerOf(route, components),
      ...acceptedOf(route, components),
      ...problemResponses(route, components),
    },
  };
}

function parametersOf(route: DocumentedRoute, components: Components): readonly Json[] {
  const { params, query, exchanges } = route;
  const [{ request }] = exchanges;
  const parameter = (location: string, name: string, schema: object, isRequired: boolean): Json => {
    const { description, examples: _examples, ...rest } = documented(schema, components) as Json & Listed;
    const [usual] = (schema as Listed).examples ?? [];
    const value = (request[location === "path" ? "params" : "query"] as Json | undefined)?.[name] ?? usual;
    return { name, in: location, required: isRequired, description, schema: rest, example: asWritten(value, rest) };
  };
  return [
    ...Object.entries(params?.properties ?? {}).map(([name, schema]) => parameter("path", name, schema, true)),
    ...Object.entries(query?.properties ?? {}).map(([name, schema]) =>
      parameter("query", name, schema, query?.required?.includes(name) === true),
    ),
    ...requestHeaders(isCommand(route), components),
  ];
}

type Listed = { readonly description?: string; readonly examples?: readonly unknown[] };

/** Paths and queries are text; the example has the type that the document shows. */
function asWritten(value: unknown, { type }: Json): unknown {
  return type === "integer" ? Number(value) : value;
}

function bodyOf(route: DocumentedRoute, components: Components): Json {
  const name = `${capital(route.operationId)}Request`;
  const description = `Body of \`${route.operationId}\`.`;
  const named = { ...route.body, "x-model": name, "x-summary": description, description };
  return {
    required: route.hasOptionalBody !== true,
    content: {
      "application/json": {
        schema: documented(named, components),
        examples: exampleSet(
          route.exchanges.filter(({ status, request }) => status === undefined && request.body !== undefined),
          ({ request }) => request.body,
        ),
      },
    },
  };
}

function headersOf(route: DocumentedRoute, components: Components): Json {
  const names: AnswerHeader[] = [
    "X-Request-Id",
    ...(isCommand(route) ? (["X-Operation-Id", "Idempotency-Replayed"] as const) : []),
    ...(route.headers ?? []),
    "X-Ignored-Fields",
    "RateLimit-Policy",
    "RateLimit",
  ];
  return answerHeaders(names, components);
}

function acceptedOf(route: DocumentedRoute, components: Components): Json {
  if (route.kind !== "object" || route.accepted === undefined) return {};
  const { reply, returns } = route.accepted;
  const content = {
    schema: documented(reply, components),
    examples: exampleSet(
      route.exchanges.filter(({ status }) => status === 202),
      ({ answer }) => answer,
    ),
  };
  return {
    202: { description: returns, headers: headersOf(route, components), content: { "application/json": content } },
  };
}

function answerOf(route: DocumentedRoute, components: Components): Json {
  const schema = route.kind === "object" ? route.reply : { type: "array", items: route.item };
  return {
    description: route.returns,
    headers: headersOf(route, components),
    content: {
      "application/json": {
        schema: documented(schema, components),
        examples: exampleSet(
          route.exchanges.filter(({ status }) => status === undefined),
          ({ answer }) => answer,
        ),
      },
      ...(route.file === undefined
        ? {}
        : {
            "text/csv": {
              schema: { type: "string" },
              examples: { file: { summary: "As a file", value: route.file.example } },
            },
          }),
    },
  };
}

function exampleSet(exchanges: readonly WholeExchange[], valueOf: (exchange: WholeExchange) => unknown): Json {
  return Object.fromEntries(exchanges.map((each) => [each.name, { summary: each.summary, value: valueOf(each) }]));
}

function capital(name: string): string {
  return pascal(name.replace(/^./, (letter) => `_${letter}`));
}
