import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../../client/index.ts";
import { listen, type Topic } from "../live/topics.ts";
import { clientOfSession } from "../session/session.ts";
import { throttled } from "./throttle.ts";

type Page<Item> = {
  readonly items: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | bigint | null;
};

export type List<Item, Extra extends Page<Item> = Page<Item>> = {
  readonly items: readonly Item[];
  /** Of the last page: what it has beside its items. */
  readonly last: Extra | undefined;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly problem: unknown;
  readonly loadMore: () => void;
  readonly refresh: () => void;
};

type Options<Item, Cursor, Extra> = {
  readonly keys: readonly unknown[];
  readonly topics?: readonly Topic[];
  readonly page: (client: Client, cursor: Cursor | undefined, signal: AbortSignal) => Promise<Extra>;
  readonly idOf: (item: Item) => string;
  /** New items come at the end, so an event makes the list be read from its beginning. */
  readonly isAscending?: boolean;
};

type State<Item, Extra> = {
  readonly items: readonly Item[];
  readonly last: Extra | undefined;
  readonly isLoading: boolean;
  readonly problem: unknown;
};

const EMPTY = { items: [], last: undefined, isLoading: true, problem: undefined };

/**
 * A list that is read page by page as it is scrolled. When an event is about it, its first page is read again: what is new comes in at the
 * top, what has changed is replaced, and what was scrolled to stays.
 */
export function useList<
  Item,
  Cursor extends string | bigint,
  Extra extends Page<Item> & { next_cursor: Cursor | null },
>(options: Options<Item, Cursor, Extra>): List<Item, Extra> {
  const [state, setState] = useState<State<Item, Extra>>(EMPTY);
  const current = useRef({ options, state, abort: new AbortController(), isBusy: false });
  current.current.options = options;
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
    own.options.page(clientOfSession(), cursor, signal).then(
      (page) => {
        if (signal.aborted) return;
        own.isBusy = false;
        setState((before) => stateAfter(kind, before, page, own.options.idOf));
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
    const later = throttled(() => load(current.current.options.isAscending === true ? "first" : "again"));
    const ignore = listen(options.topics ?? [], () => later.call(undefined, () => undefined));
    return () => {
      ignore();
      later.stop();
      current.current.abort.abort();
    };
  }, options.keys);

  return {
    ...state,
    hasMore: state.last?.has_more ?? false,
    loadMore: useCallback(() => load("next"), []),
    refresh: useCallback(() => load("first"), []),
  };
}

function stateAfter<Item, Extra extends Page<Item>>(
  kind: "first" | "next" | "again",
  before: State<Item, Extra>,
  page: Extra,
  idOf: (item: Item) => string,
): State<Item, Extra> {
  const done = { isLoading: false, problem: undefined };
  if (kind === "next") return { ...done, items: [...before.items, ...page.items], last: page };
  if (kind === "first") return { ...done, items: page.items, last: page };
  const fresh = new Map(page.items.map((item) => [idOf(item), item]));
  const rest = before.items.filter((item) => !fresh.has(idOf(item)));
  const hasOverlap = rest.length < before.items.length;
  // Without overlap there are items in between that were never read; a list of one page is exactly this page.
  if (!hasOverlap || !page.has_more) return { ...done, items: page.items, last: page };
  return { ...done, items: [...page.items, ...rest], last: before.last };
}
