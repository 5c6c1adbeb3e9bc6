import type { CommandOutcome } from "./classify.ts";
import type { Mt5Context } from "./context.ts";
import type { Fields } from "./fields.ts";
import { clearedFields, filledFields, findRecord, REQUIRED, TEXT_NAMES } from "./user-record.ts";
import { USER_RIGHT, userCommand } from "./users.ts";

const UNCONFIRMED: CommandOutcome = { kind: "unknown", reason: "contradictory" };

/**
 * Removes the rights to connect and to trade, and keeps the other rights. Done only when the platform shows the new
 * rights, because it ignores invalid values without an error, and all other fields of the account: those that the update has
 * cleared are written back, and logged when the platform does not keep them. Undefined when there is no such account.
 */
export async function disableUser(mt5: Mt5Context, login: string): Promise<CommandOutcome | undefined> {
  const before = await findRecord(mt5, login);
  if (before === undefined) return undefined;
  const rights = (before.integer("Rights") & ~USER_RIGHT.enabled) | USER_RIGHT.tradeDisabled;
  const query = { login, rights: rights.toString() };
  const outcome = await userCommand(mt5, { method: "POST", path: "user/update", query });
  if (outcome.kind !== "done") return outcome;
  const after = await findRecord(mt5, login);
  if (after?.integer("Rights") !== rights) return UNCONFIRMED;
  const cleared = clearedFields(before, after);
  if (cleared.length === 0) return outcome;
  mt5.log.warn("account update cleared other fields, writing them back", { login, reason: cleared.join(", ") });
  return await writeBack(mt5, { login, rights, before });
}

type WriteBack = { readonly login: string; readonly rights: bigint; readonly before: Fields };

/** All fields at once: the server may replace the whole record again. */
async function writeBack(mt5: Mt5Context, { login, rights, before }: WriteBack): Promise<CommandOutcome> {
  const kept = filledFields(before, [...REQUIRED, ...TEXT_NAMES]);
  const body = { Login: login, Rights: rights.toString(), ...kept };
  const outcome = await userCommand(mt5, { method: "POST", path: "user/update", body });
  const after = await findRecord(mt5, login);
  const lost = after === undefined ? Object.keys(kept) : clearedFields(before, after);
  if (lost.length > 0) {
    const reason = lost.join(", ");
    mt5.log.error("account fields that an update cleared not written back, correct them on the platform", {
      login,
      reason,
    });
    return UNCONFIRMED;
  }
  return after?.integer("Rights") === rights && outcome.kind === "done" ? outcome : UNCONFIRMED;
}
