import type { Mt5Context } from "./context.ts";
import { badAnswer } from "./errors.ts";
import { fieldsOf } from "./fields.ts";
import { isJsonArray } from "./http/json.ts";
import { findDone } from "./reader.ts";
import { rowsOf } from "./lists.ts";
import { SELECTOR_REFUSED } from "./retcodes.ts";

export type Group = {
  /** Full path; case matters. */
  readonly name: string;
  readonly currency: string;
  readonly currencyDigits: number;
  /** An amount of its accounts is one of dollars and cents. */
  readonly isSupported: boolean;
};

/** The currency of all accounts, and the digits of its amounts. */
export const CURRENCY = "USD";
export const CURRENCY_DIGITS = 2;

/** Undefined when the manager sees no such group. */
export async function getGroup({ read }: Mt5Context, name: string): Promise<Group | undefined> {
  const found = findDone(await read({ method: "GET", path: "group/get", query: { group: name } }));
  if (found === undefined) return undefined;
  // A name with characters of a mask selects other groups too.
  const groups = (isJsonArray(found.answer) ? found.answer : [found.answer]).map((group) => fieldsOf(group));
  const fields = groups.find((group) => group.text("Group") === name);
  if (fields === undefined) throw badAnswer("the platform answers about another group");
  const [currency, currencyDigits] = [fields.text("Currency"), fields.number("CurrencyDigits")];
  return { name, currency, currencyDigits, isSupported: currency === CURRENCY && currencyDigits === CURRENCY_DIGITS };
}

/** Characters of a mask: the platform would take such a name for several groups. */
const MASK = /[*!,]/;

/** Whether the name selects exactly the group of this name where the platform expects a mask. */
export function isExactMask(group: string): boolean {
  return group !== "" && !MASK.test(group);
}

/** The logins of a group; undefined when the server does not list them. */
export async function listGroupLogins(
  { read }: Pick<Mt5Context, "read">,
  group: string,
): Promise<readonly string[] | undefined> {
  const envelope = await read({ method: "GET", path: "user/logins", query: { group } });
  if (SELECTOR_REFUSED.has(envelope.code)) return undefined;
  return rowsOf(envelope).map((login) => {
    if (typeof login === "string") return login;
    throw badAnswer("the platform's answer has a login that is not text");
  });
}
