import { type Static, type TObject, type TProperties, type TUnsafe, Type } from "typebox";
import type { FieldError } from "#kernel/refusal.ts";
import { string } from "../fields/field.ts";
import { apart, messageOf, type or } from "../fields/message.ts";
import type { Cursors } from "../wire/cursor.ts";
import type { AnsweredBy, Deps, Facts, Input, Part, Route, RouteContext, Shape } from "./route.ts";

const cursor = Type.Optional(
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
type Limit = ReturnType<typeof or<string, number, number>>;
type Members<F, O> = F & { readonly limit: Limit; readonly cursor: typeof cursor } & O;
type Query<F extends TProperties, O extends TProperties> = TUnsafe<
  Static<TObject<F>> & { readonly limit?: string; readonly cursor?: string } & Static<TObject<O>>
> & { readonly properties: Members<F, O> };

type PageInput<P extends Part, F extends TProperties, O extends TProperties> = Input<P, Query<F, O>, undefined>;

type PageRoute<
  R extends Shape,
  P extends Part,
  F extends TProperties,
  O extends TProperties,
  K extends Kind,
  Page,
> = Omit<Facts<P, Query<F, O>, undefined>, "query" | "body"> & {
  /** The parameters that say which items the list has. A cursor is valid only with the same ones. */
  readonly filter?: F;
  readonly limit: Limit;
  /** Parameters that do not filter. */
  readonly options?: O;
  readonly cursor: K;
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
  K extends Kind,
  Page extends AnsweredBy<R>,
  P extends Part = undefined,
  F extends TProperties = Record<never, never>,
  O extends TProperties = Record<never, never>,
>(spec: PageRoute<R, P, F, O, K, Page>): Route {
  // As in `route`, the types are needed only where the route is written.
  const { filter = {}, limit, options, cursor: kind, check, call, next, ...facts } = spec as unknown as AnyPageRoute;
  // Also read of a filter that is invalid.
  const listOf = ({ params, query }: AnyInput): string => {
    const values = [messageOf(facts.params?.properties ?? {}, params), messageOf(filter, query)];
    return `${facts.operationId}${JSON.stringify(values, (_name, value) => (typeof value === "bigint" ? String(value) : value))}`;
  };
  return {
    ...facts,
    kind: "object",
    query: Type.Object({ ...filter, limit, cursor, ...options }),
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
  } as unknown as Route;
}

type AnyInput = PageInput<Shape, TProperties, TProperties>;
type AnyReply = Shape & { readonly of: (message: object) => unknown };
type AnyPageRoute = PageRoute<AnyReply, Shape, TProperties, TProperties, "number", object>;
