import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import type { EventType } from "../contract/event.ts";

/** An entry as its consumer gets it; `type` tells the messages of a feed apart. */
export type Filed<Message, Name extends string> = {
  readonly number: bigint;
  readonly id: bigint;
  readonly toldAt: Date;
  readonly requestId: string;
  readonly type: Name;
  readonly message: Message;
};

/** The union of the entries of a feed that carries these events. */
export type EntryOf<Event> = Event extends EventType<infer Message, infer Name> ? Filed<Message, Name> : never;

/** Thrown by a consumer that cannot make sense of an entry, for example of a Money without a currency. */
export class MalformedEntry extends Error {
  override readonly name = "MalformedEntry";
  readonly number: bigint;

  constructor(number: bigint, reason: string) {
    super(reason);
    this.number = number;
  }
}

/** Decodes one entry; throws MalformedEntry when that cannot be done. */
export function understand<Event extends EventType<unknown>>(
  events: readonly Event[],
  entry: FeedEntry,
): EntryOf<Event> {
  const { number, id, type, toldAt, requestId } = entry;
  const event = events.find(({ $type }) => $type === type);
  if (event === undefined) throw new MalformedEntry(number, `unknown type ${type}`);
  if (toldAt === undefined) throw new MalformedEntry(number, "without the time when it was told");
  const message = decode(event, entry);
  return { number, id, toldAt, requestId, type, message } as EntryOf<Event>;
}

function decode(event: EventType<unknown>, { number, payload }: FeedEntry): unknown {
  try {
    return event.decode(payload);
  } catch (error) {
    throw new MalformedEntry(number, `not a ${event.$type}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
