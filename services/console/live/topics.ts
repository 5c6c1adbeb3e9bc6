import type { Models } from "../../client/index.ts";

type Event = Models["Event"];

/** What an event is about. A page names those of what it shows, and reads it again when one of them changes. */
export type Topic =
  | "operations"
  | "subscriptions"
  | "masters"
  | "mirrors"
  | "fees"
  | "reviews"
  | "breaks"
  | "accounts"
  | `operation:${string}`
  | `login:${string}`;

const BY_KIND: Readonly<Record<string, Topic>> = {
  deposit: "operations",
  withdrawal: "operations",
  unassign: "operations",
  subscription: "subscriptions",
  mirror: "mirrors",
  exit: "mirrors",
  fee: "fees",
  break: "breaks",
  review: "reviews",
  account: "accounts",
};

export function topicsOf({ type, operation_id, login, master_login }: Event): readonly Topic[] {
  const [kind = ""] = type.split(".");
  const topic = BY_KIND[kind];
  return [
    ...(topic === undefined ? [] : [topic]),
    ...(operation_id === null ? [] : [`operation:${operation_id}` as const]),
    ...[login, master_login].filter((one) => one !== null).map((one) => `login:${one}` as const),
  ];
}

type Listener = { readonly topics: ReadonlySet<Topic>; readonly changed: (events: readonly Event[]) => void };

const listeners = new Set<Listener>();

/** Returns the function that ends it. */
export function listen(topics: readonly Topic[], changed: (events: readonly Event[]) => void): () => void {
  const listener = { topics: new Set(topics), changed };
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function publish(events: readonly Event[]): void {
  const named = events.map((event) => ({ event, topics: topicsOf(event) }));
  for (const { topics, changed } of listeners) {
    const own = named.filter((one) => one.topics.some((topic) => topics.has(topic))).map(({ event }) => event);
    if (own.length > 0) changed(own);
  }
}

/** Events may have been missed: everything that is shown is read again. */
export function publishAll(): void {
  for (const { changed } of listeners) changed([]);
}
