import assert from "node:assert/strict";
import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { CancelVersionRequest, FeeVersion } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { entriesOfCancellation } from "../domain/change-timeline.ts";
import { madeBy } from "../domain/timeline.ts";
import { versionMessage } from "../messages/version.ts";
import { recordChange } from "../processes/record-change.ts";
import { refuse } from "../refusals.ts";
import { findVersion } from "../store/listed-versions.ts";

/** Cancels a version before it begins; the version before it then stays in force. */
export async function cancelVersion(
  deps: Deps,
  { investorLogin, versionId }: CancelVersionRequest,
  context: CallContext,
): Promise<FeeVersion> {
  const investor = await deps.accounts.findInvestor({ login: investorLogin }, childContext(context));
  const found = await findVersion(deps.pool, { investorLogin, versionId });
  if (found === undefined) throw refuse("fee_version_not_found", `The Investor has no fee version ${versionId}.`);
  const command = { key: context.commandId, investorLogin, investorId: investor.id, asksSince: deps.now() };
  await recordChange(deps, command, async (known, at, tx) => {
    // As the command before this one has left it.
    const version = await findVersion(tx, { investorLogin, versionId });
    assert(version !== undefined, "versions are kept");
    return entriesOfCancellation(known, version, at);
  });
  return versionMessage(madeBy(found), "cancelled", found.madeAt);
}
