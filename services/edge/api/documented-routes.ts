import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import type { Route } from "../http/route.ts";
import type { DocumentedRoute, Exchange, Exchanges, WholeExchange } from "./exchange.ts";
import { ROUTES } from "./routes.ts";

const files = globSync("**/*.exchange.ts", { cwd: import.meta.dirname });
const modules = await Promise.all(
  files.map(async (file) => (await import(join(import.meta.dirname, file))) as { readonly exchanges: Exchanges }),
);
const exchanges = new Map(modules.flatMap((each) => Object.entries(each.exchanges)));

/** The whole interface with its exchanges, for the documentation and the tests. The process that serves it does not load them. */
export const DOCUMENTED_ROUTES: readonly DocumentedRoute[] = ROUTES.map((route) => {
  const own = exchanges.get(route.operationId);
  assert(own !== undefined, `${route.operationId} has no exchange`);
  const [first, ...others] = own;
  return { ...route, exchanges: [whole(route, first), ...others.map((other) => whole(route, other))] };
});

function whole(route: Route, exchange: Exchange): WholeExchange {
  const { params, query, body } = exchange.request ?? {};
  const hasBody = route.body !== undefined && (body !== undefined || route.hasOptionalBody !== true);
  return {
    ...exchange,
    request: {
      ...(route.params && { params: texts(exampleOf(route.params, params)) }),
      ...(route.query && { query: texts(exampleOf(route.query, query)) }),
      ...(hasBody && { body: exampleOf(route.body, body) as object }),
    },
    answer: exampleOf(answerSchema(route, exchange), exchange.answer),
  };
}

function answerSchema(route: Route, { status }: Exchange): object | undefined {
  if (route.kind === "list") return { type: "array", items: route.item };
  return status === 202 ? route.accepted?.reply : route.reply;
}

/** As they are in a path or a query. */
function texts(values: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(values as object).map(([name, value]) => [name, String(value)]));
}

type Described = {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly items?: object;
  readonly examples?: readonly unknown[];
};

/** The examples of the fields, where `own` does not say otherwise: of what may be missing or null nothing, of a list one item. */
function exampleOf(schema: object | undefined, own?: unknown): unknown {
  if (own === null) return null;
  const { type, properties, required = [], items, examples: [example] = [] } = (schema ?? {}) as Described;
  if (properties !== undefined) {
    if (own === undefined && type !== "object") return null;
    const given = (own ?? {}) as Readonly<Record<string, unknown>>;
    for (const name of Object.keys(given)) assert(name in properties, `an exchange has ${name}, which is no field`);
    const names = Object.keys(properties).filter((name) => required.includes(name) || Object.hasOwn(given, name));
    return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name], given[name])]));
  }
  if (type === "array") return ((own ?? [undefined]) as unknown[]).map((each) => exampleOf(items, each));
  return own === undefined ? example : own;
}
