import type { Mt5Context } from "./context.ts";
import type { Fields } from "./fields.ts";
import {
  type ChangeOutcome,
  clearedFields,
  filledFields,
  isEmpty,
  REQUIRED,
  TEXT_NAMES,
  textOf,
} from "./user-record.ts";
import { findRecord, USER_RIGHT, userCommand } from "./users.ts";

/** Stands in place of a name: the platform does not take an account without one. */
const ERASED = "erased";
const NAMES = ["Name", "FirstName", "LastName"];
/** What identifies or reaches a person. The comment stays: by it the service recognises the accounts that it has created. */
const EMPTIED =
  "MiddleName Company Account City State ZipCode Address Phone Email ID PhonePassword MQID LeadSource LeadCampaign".split(
    " ",
  );
const KEPT = TEXT_NAMES.filter((name) => !NAMES.includes(name) && !EMPTIED.includes(name));

/**
 * Replaces names by a neutral text, empties the other personal fields, and removes the rights to connect and to trade. Done only when
 * the platform shows it, because it ignores invalid values without an error; then a repetition sends nothing. Undefined when there is no
 * such account.
 */
export async function eraseUser(mt5: Mt5Context, login: string): Promise<ChangeOutcome | undefined> {
  const before = await findRecord(mt5.read, login);
  if (before === undefined) return undefined;
  if (isDisabled(before) && personalFields(before).length === 0) return { kind: "done" };
  const outcome = await userCommand(mt5, { method: "POST", path: "user/update", body: erasedRecord(before, login) });
  if (outcome.kind !== "done") return outcome;
  const after = await findRecord(mt5.read, login);
  const left = after === undefined ? [] : [...personalFields(after), ...clearedFields(before, after, KEPT)];
  if (after !== undefined && isDisabled(after) && left.length === 0) return { kind: "done" };
  if (left.length > 0) {
    const reason = left.join(", ");
    mt5.log.error("account fields not as requested by an erasure, correct them on the platform", { login, reason });
  }
  return { kind: "unknown", reason: "contradictory" };
}

/** With all other fields too: a server may replace the whole record. */
function erasedRecord(before: Fields, login: string): Record<string, string> {
  return {
    Login: login,
    Rights: ((before.integer("Rights") & ~USER_RIGHT.enabled) | USER_RIGHT.tradeDisabled).toString(),
    ...filledFields(before, [...REQUIRED, ...KEPT]),
    ...Object.fromEntries(NAMES.map((name) => [name, ERASED])),
    ...Object.fromEntries(Object.keys(filledFields(before, EMPTIED)).map((name) => [name, ""])),
  };
}

function isDisabled(record: Fields): boolean {
  return (record.integer("Rights") & (USER_RIGHT.enabled | USER_RIGHT.tradeDisabled)) === USER_RIGHT.tradeDisabled;
}

/** The fields that still say who it is. */
function personalFields(record: Fields): string[] {
  const named = NAMES.filter((name) => !isEmpty(textOf(record, name)) && textOf(record, name) !== ERASED);
  return [...named, ...EMPTIED.filter((name) => !isEmpty(textOf(record, name)))];
}
