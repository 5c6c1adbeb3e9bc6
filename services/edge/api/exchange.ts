import type { EventLog } from "../events/event-log.ts";
import type { Webhooks } from "../events/webhooks/webhooks.ts";
import type { Route, Services } from "../http/route.ts";
import type { KeyDirectory } from "../identity/keys/key-directory.ts";

/** The answers of what a route calls. A method that is not named must not be called. */
export type Answers = { readonly [Name in keyof Services]?: Partial<Services[Name]> } & {
  readonly events?: Partial<EventLog>;
  readonly webhooks?: Partial<Webhooks>;
  readonly keys?: Partial<KeyDirectory>;
};

type Parts = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
};

/**
 * A request, what the services are asked and answer, and the answer. The documentation shows it, and a test sends it: both are true together. Of
 * request and answer it has what is not the example of the field.
 */
export type Exchange = {
  /** Key in the documentation. */
  readonly name: string;
  readonly summary: string;
  /** The path and what is required have the example of each field. */
  readonly request?: Parts;
  readonly services: Answers;
  /** The calls in their order. */
  readonly asked?: readonly { readonly method: string; readonly request: unknown }[];
  /** 200 when it is missing. */
  readonly status?: 202;
  /** Of an object the members that differ; of a list its items, and `{}` for one that does not. */
  readonly answer?: unknown;
};

/** With the whole request and the whole answer. */
export type WholeExchange = Exchange & { readonly request: Parts; readonly answer: unknown };

/** The first one also has the example of each parameter, and the path that problems show. */
type Some<E> = readonly [E, ...E[]];

/** By operation. */
export type Exchanges = Readonly<Record<string, Some<Exchange>>>;
export type DocumentedRoute = Route & { readonly exchanges: Some<WholeExchange> };

export type SentRequest = {
  readonly method: Route["method"];
  readonly url: string;
  readonly body: object | undefined;
};

export function requestOf({ method, url }: Route, { request }: WholeExchange): SentRequest {
  const { params = {}, query = {}, body } = request;
  const path = url.replaceAll(/:([a-z0-9_]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return { method, url: search.length === 0 ? path : `${path}?${search.join("&")}`, body };
}
