import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { CancelVersionRequest, FeeVersion } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { presentOf, stateOf } from "../domain/timeline.ts";
import { versionMessage } from "../messages/version.ts";
import { refuse } from "../refusals.ts";
import { cancelScheduled, listTerms, lockConfiguration } from "../store/configurations.ts";
import { findVersion } from "../store/listed-versions.ts";

/** Cancels a version before it begins; the version before it then stays in force. */
export async function cancelVersion(
  { pool, accounts, now }: Deps,
  { investorLogin, versionId }: CancelVersionRequest,
  context: CallContext,
): Promise<FeeVersion> {
  const { commandId: key } = context;
  const { id: investorId } = await accounts.findInvestor({ login: investorLogin }, childContext(context));
  return await inTransaction(pool, async (tx) => {
    const configuration = await lockConfiguration(tx, { investorLogin, investorId, at: now() });
    const version = await findVersion(tx, { investorLogin, versionId });
    if (version === undefined) throw refuse("fee_version_not_found", `The Investor has no fee version ${versionId}.`);
    if (version.endedBy !== key) {
      const at = presentOf(configuration, now());
      const terms = await listTerms(tx, [{ investorLogin, since: at }]);
      const state = stateOf(terms.get(investorLogin)?.versions ?? [], version, at);
      if (state !== "scheduled") {
        const message = `Fee version ${versionId} is not scheduled any more: its state is ${state}.`;
        throw refuse("fee_version_not_scheduled", message, { details: { state } });
      }
      await cancelScheduled(tx, { investorLogin, versionId, key, at });
    }
    return versionMessage(version, "cancelled");
  });
}
