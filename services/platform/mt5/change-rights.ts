import type { CommandOutcome } from "./classify.ts";
import type { Mt5Context } from "./context.ts";
import { type Fields, fieldsOf, loginOf } from "./fields.ts";
import { orUndefined } from "./errors.ts";
import { type ChangeOutcome, clearedFields, filledFields, REQUIRED, TEXT_NAMES } from "./user-record.ts";
import { findRecord, USER_RIGHT, userCommand } from "./users.ts";

const UNCONFIRMED: ChangeOutcome = { kind: "unknown", reason: "contradictory" };

type RightsChange = {
  readonly login: string;
  readonly changed: (rights: bigint) => bigint;
  /** Not called when the account has these rights already: then nothing is sent. */
  readonly beforeSending?: () => Promise<void>;
};

/** Removes the rights to connect and to trade, and keeps the other rights. */
export async function disableUser(mt5: Mt5Context, login: string): Promise<ChangeOutcome | undefined> {
  const changed = (rights: bigint) => (rights & ~USER_RIGHT.enabled) | USER_RIGHT.tradeDisabled;
  return await changeRights(mt5, { login, changed });
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
