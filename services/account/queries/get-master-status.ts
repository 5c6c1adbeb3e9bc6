import type { CallContext } from "#kernel/contract/contract.ts";
import { type GetMasterStatusRequest, MasterState, type MasterStatus } from "#proto/pamm/account/v1/account.ts";
import { findClosing, stateOf } from "../closings.ts";
import type { Deps } from "../deps.ts";
import { getMasterById } from "../directory.ts";
import type { Master } from "../domain/master.ts";

/** Where a Master is in its life. */
export async function getMasterStatus(
  deps: Deps,
  { id }: GetMasterStatusRequest,
  context: CallContext,
): Promise<MasterStatus> {
  const master = await getMasterById(deps, id);
  const { login } = master;
  const closing = await findClosing(deps, login, context);
  switch (stateOf(closing)) {
    case undefined:
      return { id, login, ...openness(master), closing: undefined };
    case "archived":
      return { id, login, state: MasterState.ARCHIVED, since: closing?.archivedAt, closing: undefined };
    case "closing": {
      const { investorsLeft = 0n, exitsInProgress = 0n, progressedAt: lastProgressAt, blockedBy } = closing ?? {};
      const progress = { investorsLeft, exitsInProgress, lastProgressAt, blockedBy };
      return { id, login, state: MasterState.CLOSING, since: closing?.requestedAt, closing: progress };
    }
  }
}

function openness({ acceptingInvestors, acceptingSince: since }: Master): Pick<MasterStatus, "state" | "since"> {
  return { state: acceptingInvestors ? MasterState.OPEN : MasterState.NOT_ACCEPTING, since };
}
