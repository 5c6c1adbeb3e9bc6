import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import type { EventType } from "../contract/event.ts";

/** An entry as its consumer receives it; `type` distinguishes the messages of a feed. */
type ReceivedEntry<Message, Name extends string> = {
  readonly number: bigint;
  readonly id: bigint;
  readonly publishedAt: Date;
  readonly requestId: string;
  readonly type: Name;
  readonly message: Message;
};

/** The union of the entries of a feed that carries these events. */
export type EntryOf<Event> = Event extends EventType<infer Message, infer Name> ? ReceivedEntry<Message, Name> : never;

/** Thrown by a consumer that cannot use an entry, for example a Money without a currency. */
export class MalformedEntry extends Error {
  override readonly name = "MalformedEntry";
  readonly number: bigint;

  constructor(number: bigint, reason: string) {
    super(reason);
    this.number = number;
  }
}

/** Throws MalformedEntry when the entry cannot be decoded. */
export function decodeEntry<Event extends EventType<unknown>>(
  events: readonly Event[],
  entry: FeedEntry,
): EntryOf<Event> {
  const { number, id, type, publishedAt, requestId } = entry;
  const event = events.find(({ $type }) => $type === type);
  if (event === undefined) throw new MalformedEntry(number, `unknown type ${type}`);
  if (publishedAt === undefined) throw new MalformedEntry(number, "no publication time");
  const message = readEntry(number, () => event.decode(entry.payload), `not a ${event.$type}: `);
  return { number, id, publishedAt, requestId, type, message } as EntryOf<Event>;
}

/** What `read` finds in an entry; MalformedEntry where it throws. */
export function readEntry<T>(number: bigint, read: () => T, prefix = ""): T {
  try {
    return read();
  } catch (error) {
    throw new MalformedEntry(number, `${prefix}${error instanceof Error ? error.message : String(error)}`);
  }
}
