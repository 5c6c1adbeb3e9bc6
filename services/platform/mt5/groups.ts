import type { Mt5Context } from "./context.ts";
import { badAnswer } from "./errors.ts";
import { fieldsOf } from "./fields.ts";
import { isJsonArray } from "./http/json.ts";
import { findDone } from "./reader.ts";

export type Group = {
  /** Full path; case matters. */
  readonly name: string;
  readonly currency: string;
  readonly currencyDigits: number;
};

/** Undefined when the manager sees no such group. */
export async function getGroup({ read }: Mt5Context, name: string): Promise<Group | undefined> {
  const found = findDone(await read({ method: "GET", path: "group/get", query: { group: name } }));
  if (found === undefined) return undefined;
  const fields = fieldsOf(isJsonArray(found.answer) ? found.answer[0] : found.answer);
  if (fields.text("Group") !== name) throw badAnswer("the platform answers about another group");
  return { name, currency: fields.text("Currency"), currencyDigits: fields.number("CurrencyDigits") };
}
