import assert from "node:assert/strict";
import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { CancelVersionRequest, FeeVersion } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { entriesOfCancellation } from "../domain/change-timeline.ts";
import { madeBy } from "../domain/timeline.ts";
import { versionMessage } from "../messages/version.ts";
import { recordChange } from "../processes/record-change.ts";

/** Cancels a version before it begins; the version before it then stays in force. */
export async function cancelVersion(
  deps: Deps,
  { investorLogin, versionId }: CancelVersionRequest,
  context: CallContext,
): Promise<FeeVersion> {
  const investor = await deps.accounts.findInvestor({ login: investorLogin }, childContext(context));
  const command = { key: context.commandId, investorLogin, investorId: investor.id, asksSince: undefined };
  const { entries } = await recordChange(deps, command, (known, at) => entriesOfCancellation(known, versionId, at));
  const cancelled = entries.find(({ id }) => id === versionId);
  const version = cancelled === undefined ? undefined : madeBy(entries, cancelled);
  assert(cancelled !== undefined && version !== undefined, "the cancelled version is on the timeline");
  return versionMessage(version, "cancelled", cancelled.madeAt);
}
