import { DEFAULT_CURRENCY, DEFAULT_CURRENCY_DIGITS, isCurrency, MAX_CURRENCY_DIGITS } from "../domain/group.ts";
import { record, type TradeServer } from "../trade-server.ts";
import { integer, readerOf, text } from "./body.ts";

const MAX_NAME_LENGTH = 63;

export function listGroups({ books }: TradeServer): object[] {
  return [...books.groups.values()].map(({ name: group, currency, digits }) => ({ group, currency, digits }));
}

/** Adds a group, or changes the currency of one with all its accounts: their amounts stay as they are. */
export function setGroup(server: TradeServer, body: unknown): object {
  const read = readerOf(body);
  const group = read.required("group", "a name", text(MAX_NAME_LENGTH));
  const currency =
    read.optional("currency", "3 to 15 letters", (value) =>
      typeof value === "string" && isCurrency(value) ? value : undefined,
    ) ?? DEFAULT_CURRENCY;
  const digits =
    read.optional("digits", `a whole number from 0 to ${MAX_CURRENCY_DIGITS}`, integer(0, MAX_CURRENCY_DIGITS)) ??
    DEFAULT_CURRENCY_DIGITS;
  read.finish();
  record(server, { kind: "group", group: { name: group, currency, digits } });
  return { group, currency, digits };
}
