import { withoutNulls } from "../postgres/query.ts";
import { usdToProto } from "./money.ts";

/** A row whose columns have the names of the fields of a message; in some of them it has cents. */
export type RowOf<Message, Cents extends keyof Message = never> = Omit<Message, Cents> &
  Readonly<Record<Cents, bigint>>;

/** The row as its message: what is null is absent, and cents are money. */
export function messageOf<Message, Cents extends keyof Message = never>(
  row: RowOf<Message, Cents>,
  ...cents: readonly Cents[]
): Message {
  return { ...withoutNulls(row), ...Object.fromEntries(cents.map((name) => [name, usdToProto(row[name])])) } as Message;
}
