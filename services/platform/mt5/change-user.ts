import type { CommandOutcome } from "./classify.ts";
import type { Mt5Context } from "./context.ts";
import { orUndefined } from "./errors.ts";
import { type Fields, fieldsOf, loginOf } from "./fields.ts";
import { findRecord, USER_RIGHT, userCommand } from "./users.ts";

/** Done when the platform shows the change. */
export type ChangeOutcome = { readonly kind: "done" } | Exclude<CommandOutcome, { readonly kind: "done" }>;

/** Fields that always have a value: any other value after an update is a change. */
const REQUIRED = ["Group", "Leverage"];
/** Fields that a server that replaces the whole record would empty. */
const TEXT_NAMES = (
  "Name FirstName LastName MiddleName Company Account Country City State ZipCode Address Phone Email ID Status Comment " +
  "MQID LeadSource LeadCampaign Language Color Agent LimitOrders LimitPositions"
).split(" ");

/** Stands in place of a name: the platform does not take an account without one. */
const ERASED = "erased";
const NAMES = ["Name", "FirstName", "LastName"];
/** What identifies or reaches a person. The comment stays: by it the service recognises the accounts that it has created. */
const EMPTIED =
  "MiddleName Company Account City State ZipCode Address Phone Email ID PhonePassword MQID LeadSource LeadCampaign".split(
    " ",
  );
const KEPT = TEXT_NAMES.filter((name) => !NAMES.includes(name) && !EMPTIED.includes(name));

const UNCONFIRMED: ChangeOutcome = { kind: "unknown", reason: "contradictory" };

type RightsChange = {
  readonly login: string;
  readonly changed: (rights: bigint) => bigint;
  /** Not called when the account has these rights already: then nothing is sent. */
  readonly beforeSending?: () => Promise<void>;
};

/** Removes the rights to connect and to trade, and keeps the other rights. */
export async function disableUser(mt5: Mt5Context, login: string): Promise<ChangeOutcome | undefined> {
  return await changeRights(mt5, { login, changed: disabled });
}

function disabled(rights: bigint): bigint {
  return (rights & ~USER_RIGHT.enabled) | USER_RIGHT.tradeDisabled;
}

/** Lets the account trade, or not, and keeps the other rights. */
export async function setTrading(
  mt5: Mt5Context,
  login: string,
  mayTrade: boolean,
  beforeSending: () => Promise<void>,
): Promise<ChangeOutcome | undefined> {
  const { tradeDisabled } = USER_RIGHT;
  const changed = (rights: bigint) => (mayTrade ? rights & ~tradeDisabled : rights | tradeDisabled);
  return await changeRights(mt5, { login, changed, beforeSending });
}

/**
 * Done only when the platform shows the new rights, because it ignores invalid values without an error, and all other fields of the
 * account: those that the update has cleared are written back, and logged when the platform does not keep them. Undefined when there
 * is no such account.
 */
async function changeRights(
  mt5: Mt5Context,
  { login, changed, beforeSending }: RightsChange,
): Promise<ChangeOutcome | undefined> {
  const before = await findRecord(mt5.read, login);
  if (before === undefined) return undefined;
  const rights = changed(before.integer("Rights"));
  if (rights === before.integer("Rights")) return { kind: "done" };
  await beforeSending?.();
  const query = { login, rights: rights.toString() };
  const outcome = await userCommand(mt5, { method: "POST", path: "user/update", query });
  if (outcome.kind !== "done") return outcome;
  const after = recordIn(outcome, login) ?? (await findRecord(mt5.read, login));
  if (after?.integer("Rights") !== rights) return UNCONFIRMED;
  const cleared = clearedFields(before, after);
  if (cleared.length === 0) return { kind: "done" };
  mt5.log.warn("account update cleared other fields, writing them back", { login, reason: cleared.join(", ") });
  return await writeBack(mt5, { login, rights, before });
}

/** The whole record, as an update answers it. */
function recordIn({ envelope }: Extract<CommandOutcome, { kind: "done" }>, login: string): Fields | undefined {
  return orUndefined(() => {
    const fields = fieldsOf(envelope.answer);
    return loginOf(fields) === login && fields.has("Rights") ? fields : undefined;
  });
}

type WriteBack = { readonly login: string; readonly rights: bigint; readonly before: Fields };

/** All fields at once: the server may replace the whole record again. */
async function writeBack(mt5: Mt5Context, { login, rights, before }: WriteBack): Promise<ChangeOutcome> {
  const kept = filledFields(before, [...REQUIRED, ...TEXT_NAMES]);
  const body = { Login: login, Rights: rights.toString(), ...kept };
  const outcome = await userCommand(mt5, { method: "POST", path: "user/update", body });
  const after = await findRecord(mt5.read, login);
  const lost = after === undefined ? Object.keys(kept) : clearedFields(before, after);
  if (lost.length > 0) {
    const reason = lost.join(", ");
    mt5.log.error("account fields that an update cleared not written back, correct them on the platform", {
      login,
      reason,
    });
    return UNCONFIRMED;
  }
  return after?.integer("Rights") === rights && outcome.kind === "done" ? { kind: "done" } : UNCONFIRMED;
}

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
  return UNCONFIRMED;
}

/** With all other fields too: a server may replace the whole record. */
function erasedRecord(before: Fields, login: string): Record<string, string> {
  return {
    Login: login,
    Rights: disabled(before.integer("Rights")).toString(),
    ...filledFields(before, [...REQUIRED, ...KEPT]),
    ...Object.fromEntries(NAMES.map((name) => [name, ERASED])),
    ...Object.fromEntries(Object.keys(filledFields(before, EMPTIED)).map((name) => [name, ""])),
  };
}

function isDisabled(record: Fields): boolean {
  const rights = record.integer("Rights");
  return rights === disabled(rights);
}

/** The fields that still say who it is. */
function personalFields(record: Fields): string[] {
  const named = NAMES.filter((name) => !isEmpty(textOf(record, name)) && textOf(record, name) !== ERASED);
  return [...named, ...EMPTIED.filter((name) => !isEmpty(textOf(record, name)))];
}

/** Those of the fields that an update has cleared or changed. A text that another manager has changed meanwhile was not cleared. */
function clearedFields(before: Fields, after: Fields, names: readonly string[] = TEXT_NAMES): string[] {
  const changed = REQUIRED.filter((name) => textOf(before, name) !== textOf(after, name));
  const emptied = names.filter((name) => !isEmpty(textOf(before, name)) && isEmpty(textOf(after, name)));
  return [...changed, ...emptied];
}

/** The fields with a value, as an update sends them. */
function filledFields(record: Fields, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => [name, textOf(record, name)] as const).filter(([, text]) => !isEmpty(text)),
  );
}

function textOf(fields: Fields, name: string): string {
  return fields.optionalText(name) ?? "";
}

function isEmpty(text: string): boolean {
  return text === "" || /^0+(?:\.0+)?$/.test(text);
}
