import type { TProperties } from "typebox";
import type { FieldError } from "#kernel/values/refusal.ts";
import { string } from "../fields/field.ts";
import { apart, messageOf, optional } from "../fields/message.ts";
import { DEFAULT_LIMIT, limit100 } from "../fields/page.ts";
import type { Cursors } from "../wire/cursor.ts";
import {
  type Address,
  type AnsweredBy,
  type Declared,
  type Deps,
  type Input,
  route,
  type RouteContext,
  type Shape,
  type Unnamed,
} from "./route.ts";

const cursor = optional(
  apart(
    string({
      description: "next_cursor of the previous page. Opaque; valid only for the same list with the same filter.",
      example: "AAAAAAAAADKuOJfJDmFvTZ1C",
    }),
  ),
);

const INVALID_CURSOR: FieldError = {
  field: "cursor",
  code: "invalid_cursor",
  message: "cursor must be the next_cursor of the same list with the same filter.",
};

/** Where a list begins. */
const START = { number: 0n, uuid: "", pair: undefined } as const;

type Kind = keyof Cursors;
type Place<K extends Kind> = Exclude<ReturnType<Cursors[K]["read"]>, undefined>;
type Limit = ReturnType<typeof limit100>;
type Query<F extends TProperties, O extends TProperties> = F & { limit: Limit; cursor: typeof cursor } & O;
type None = Record<never, never>;
type PageInput<P extends TProperties, F extends TProperties, O extends TProperties> = Input<P, Query<F, O>, None>;

type PageRoute<
  R extends Shape,
  P extends TProperties,
  F extends TProperties,
  O extends TProperties,
  K extends Kind,
  Page,
> = Omit<Declared<P, Query<F, O>, None>, "query" | "body"> & {
  /** The parameters that say which items the list has. A cursor is valid only with the same ones. */
  readonly filter?: F;
  /** 50 of at most 100 items, unless the route names another one. */
  readonly limit?: Limit;
  /** Parameters that do not filter. */
  readonly options?: O;
  /** What a place in the list is: a `number`, unless the route names something else. */
  readonly cursor?: K;
  /** Made of the page, and of `nextCursor`. */
  readonly reply: R;
  /** Checks between fields that no schema can express. */
  readonly check?: (input: PageInput<P, F, O>, deps: Deps) => readonly FieldError[];
  /** Reads the page behind this place. */
  readonly call: (
    deps: Deps,
    request: PageInput<P, F, O>["request"],
    after: Place<K> | (typeof START)[K],
    context: RouteContext,
  ) => Promise<Page>;
  /** The place of the last item; undefined on the last page. */
  readonly next: (page: Page) => Place<K> | undefined;
};

/** A route that answers a list page by page, which callers walk by an opaque cursor. */
export function pageRoute<
  R extends Shape,
  Page extends AnsweredBy<R>,
  K extends Kind = "number",
  P extends TProperties = None,
  F extends TProperties = None,
  O extends TProperties = None,
>(address: Address, spec: PageRoute<R, P, F, O, K, Page>): Unnamed {
  // As in `route`, the types are needed only where the route is written.
  const { filter = {}, limit = limit100(DEFAULT_LIMIT), options, ...own } = spec as unknown as AnyPageRoute;
  const { cursor: kind = "number", check, call, next, ...facts } = own;
  return (listed) => {
    // Also read of a filter that is invalid.
    const listOf = ({ params, query }: AnyInput): string => {
      const values = [messageOf(facts.params ?? {}, params), messageOf(filter, query)];
      return `${listed.operationId}${JSON.stringify(values, (_name, value) => (typeof value === "bigint" ? String(value) : value))}`;
    };
    const paged = {
      ...facts,
      query: { ...filter, limit, cursor, ...options },
      check(input: AnyInput, deps: Deps) {
        const given = input.query.cursor;
        const isOther = given !== undefined && deps.cursors[kind].read(listOf(input), given) === undefined;
        return [...(check?.(input, deps) ?? []), ...(isOther ? [INVALID_CURSOR] : [])];
      },
      async handle(deps: Deps, input: AnyInput, context: RouteContext) {
        const [list, cursors, given] = [listOf(input), deps.cursors[kind], input.query.cursor];
        const after = given === undefined ? START[kind] : (cursors.read(list, given) as bigint);
        const page = await call(deps, input.request, after, context);
        const place = next(page);
        return facts.reply.of({ ...page, nextCursor: place === undefined ? undefined : cursors.write(list, place) });
      },
    };
    return route(address, paged as never)(listed);
  };
}

type AnyInput = PageInput<TProperties, TProperties, TProperties> & { readonly query: { readonly cursor?: string } };
type AnyReply = Shape & { readonly of: (message: object) => unknown };
type AnyPageRoute = PageRoute<AnyReply, TProperties, TProperties, TProperties, "number", object>;
