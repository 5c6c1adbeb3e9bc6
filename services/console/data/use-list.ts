import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Answer, Input, Item, Models, PagedId } from "../../client/index.ts";
import { listen, type Topic } from "../live/topics.ts";
import { clientOfSession } from "../session/session.ts";
import { throttled } from "./throttle.ts";

/** Queries whose answer is a page of a longer list. */
type ListId = PagedId | "getProof";
type ItemOf<Id extends ListId> = Id extends PagedId ? Item<Id> : Models["AccountProof"];

export type List<Row> = {
  readonly items: readonly Row[];
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly problem: unknown;
  readonly loadMore: () => void;
  readonly refresh: () => void;
  readonly idOf: (item: Row) => string;
};

type Options<Row> = {
  readonly topics?: readonly Topic[];
  /** How many items one request reads. */
  readonly limit?: number;
  /** New items come at the end, so an event makes the list be read from its beginning. */
  readonly isAscending?: boolean;
} & (Row extends { readonly id: string | bigint }
  ? { readonly idOf?: (item: Row) => string }
  : { readonly idOf: (item: Row) => string });

type Page<Row> = { readonly has_more: boolean; readonly next_cursor: unknown } & (
  | { readonly items: readonly Row[] }
  | { readonly investors: readonly Row[] }
);

type State<Row> = Pick<List<Row>, "items" | "isLoading" | "problem"> & { readonly last: Page<Row> | undefined };

const LIMIT = 100;
const EMPTY = { items: [], last: undefined, isLoading: true, problem: undefined };

/**
 * A list that is read page by page as it is scrolled. When an event is about it, its first page is read again: what is new comes in at the
 * top, what has changed is replaced, and what was scrolled to stays.
 */
export function useList<Id extends ListId>(
  id: Id,
  input: Input<Id>,
  options: Options<ItemOf<Id>>,
): List<ItemOf<Id>> & { readonly last: Answer<Id> | undefined } {
  type Row = ItemOf<Id>;
  const [state, setState] = useState<State<Row>>(EMPTY);
  const { topics = [], limit = LIMIT, isAscending = false } = options;
  const { idOf = idIn } = options as { readonly idOf?: (item: Row) => string };
  const current = useRef({ input, state, abort: new AbortController(), isBusy: false });
  current.current.input = input;
  current.current.state = state;

  const load = useCallback((kind: "first" | "next" | "again") => {
    const own = current.current;
    if (kind !== "first" && own.isBusy) return;
    if (kind === "first") {
      own.abort.abort();
      own.abort = new AbortController();
    }
    const { signal } = own.abort;
    own.isBusy = true;
    setState((before) => ({ ...before, isLoading: true }));
    const cursor = kind === "next" ? (own.state.last?.next_cursor ?? undefined) : undefined;
    const { query, ...parts } = own.input as { readonly query?: object };
    const paged = { ...parts, query: { ...query, limit, cursor } };
    const read = clientOfSession().query as (...call: readonly unknown[]) => Promise<Page<Row>>;
    read(id, paged, { signal }).then(
      (page) => {
        if (signal.aborted) return;
        own.isBusy = false;
        setState((before) => stateAfter(kind, before, page, idOf));
      },
      (problem: unknown) => {
        if (signal.aborted) return;
        own.isBusy = false;
        setState((before) => ({ ...before, problem, isLoading: false }));
      },
    );
  }, []);

  useEffect(() => {
    setState(EMPTY);
    load("first");
    const later = throttled(() => load(isAscending ? "first" : "again"));
    const ignore = listen(topics, () => later.call(undefined, () => undefined));
    return () => {
      ignore();
      later.stop();
      current.current.abort.abort();
    };
  }, [JSON.stringify(input, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value))]);

  return {
    ...state,
    last: state.last as Answer<Id> | undefined,
    hasMore: state.last?.has_more ?? false,
    loadMore: useCallback(() => load("next"), []),
    refresh: useCallback(() => load("first"), []),
    idOf,
  };
}

const idIn = (item: unknown): string => `${(item as { readonly id: string | bigint }).id}`;

function stateAfter<Row>(
  kind: "first" | "next" | "again",
  before: State<Row>,
  page: Page<Row>,
  idOf: (item: Row) => string,
): State<Row> {
  const done = { isLoading: false, problem: undefined, last: page };
  const items = "items" in page ? page.items : page.investors;
  if (kind === "next") return { ...done, items: [...before.items, ...items] };
  if (kind === "first") return { ...done, items };
  const fresh = new Set(items.map(idOf));
  const rest = before.items.filter((item) => !fresh.has(idOf(item)));
  const hasOverlap = rest.length < before.items.length;
  // Without overlap there are items in between that were never read; a list of one page is exactly this page.
  if (!hasOverlap || !page.has_more) return { ...done, items };
  return { ...done, items: [...items, ...rest], last: before.last };
}
