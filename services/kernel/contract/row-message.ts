import { usdToProto } from "./money.ts";

/** A row whose columns have the names of the fields of a message; in some of them it has cents. */
export type RowOf<Message, Cents extends keyof Message = never> = Omit<Message, Cents> &
  Readonly<Record<Cents, bigint>>;

/** The row as its message: what is null is absent, and cents are money. */
export function messageOf<Message, Cents extends keyof Message = never>(
  row: RowOf<Message, Cents>,
  ...cents: readonly Cents[]
): Message {
  const present = Object.entries(row).map(([name, value]) => [name, value ?? undefined]);
  const amounts = cents.map((name) => [name, usdToProto(row[name])]);
  return Object.fromEntries([...present, ...amounts]) as Message;
}
