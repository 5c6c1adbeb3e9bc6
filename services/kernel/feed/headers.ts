import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";

/** The broker drops a second message of the same id. */
const MESSAGE_ID = "Nats-Msg-Id";
const NUMBER = "Feed-Number";
const ID = "Feed-Entry-Id";
const TYPE = "Feed-Type";
const TOLD_AT = "Feed-Told-At";
const REQUEST_ID = "Request-Id";
const FEED = "Feed-Name";
const DIGITS = /^[1-9]\d{0,18}$/;

/** How an entry travels beside its payload when a broker carries it. */
export function feedHeaders(service: string, entry: FeedEntry & { readonly feed: string }): Record<string, string> {
  return {
    [MESSAGE_ID]: `${service}:${entry.id}`,
    [FEED]: entry.feed,
    [NUMBER]: String(entry.number),
    [ID]: String(entry.id),
    [TYPE]: entry.type,
    [TOLD_AT]: entry.toldAt?.toISOString() ?? "",
    [REQUEST_ID]: entry.requestId,
  };
}

/** The entry of a message, or undefined when its headers are not ours. Then reading the feed brings the truth. */
export function entryFromHeaders(payload: Uint8Array, header: (name: string) => string): FeedEntry | undefined {
  const number = header(NUMBER);
  const id = header(ID);
  const toldAt = new Date(header(TOLD_AT));
  if (!DIGITS.test(number) || !DIGITS.test(id) || Number.isNaN(toldAt.getTime())) return undefined;
  return { number: BigInt(number), id: BigInt(id), type: header(TYPE), payload, toldAt, requestId: header(REQUEST_ID) };
}
