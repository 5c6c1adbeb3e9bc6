import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { changeFromProto } from "#kernel/contract/labels.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { type LabelsChange, NO_LABELS } from "#kernel/labels.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Master as MasterMessage, UpdateMasterRequest } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { changeMaster } from "../directory-changes.ts";
import { countInvestorsOf, getMasterById } from "../directory.ts";
import { checkAll, minDepositError, nameError, textError } from "../domain/checks.ts";
import type { Master, MasterChange } from "../domain/master.ts";
import { masterMessage } from "../messages.ts";
import { withFreeExternalId } from "../processes/external-id.ts";
import { relabel } from "../processes/relabel.ts";
import { insertMasterUpdate } from "../store/master-updates.ts";
import { findMasterById } from "../store/masters.ts";

/** Changes the name, the texts and the minimum deposit of later assignments. Moves no funds. */
export async function updateMaster(
  deps: Deps,
  request: UpdateMasterRequest,
  context: CallContext,
): Promise<MasterMessage> {
  const { id, name, strategyName, strategy } = request;
  const minDeposit = request.minDeposit && moneyFromProto(request.minDeposit, "min_deposit");
  const change: MasterChange = { name, strategyName, strategy, minDeposit };
  const labels = changeFromProto(request.labels);
  checkAll(
    nameError("name", name),
    textError("strategy_name", strategyName),
    textError("strategy", strategy),
    minDepositError(minDeposit),
    labels === undefined && Object.values(change).every((value) => value === undefined) ? NOTHING_TO_CHANGE : undefined,
  );
  // Counted before the change: a failure afterwards would hide from the caller that the change was made.
  const { login } = await getMasterById(deps, id);
  const investorsCount = await countInvestorsOf(deps, login, context);
  const changed = await withFreeExternalId("MASTER", labels ?? NO_LABELS, () =>
    changeOnce(deps, { id, login, change, labels }, context.commandId),
  );
  return masterMessage(changed, investorsCount);
}

type Change = {
  readonly id: bigint;
  readonly login: string;
  readonly change: MasterChange;
  readonly labels: LabelsChange | undefined;
};

/** A repeated command changes nothing: a later command may have changed the same fields. */
async function changeOnce(
  { pool, now }: Deps,
  { id, login, change, labels }: Change,
  commandId: string,
): Promise<Master> {
  const master = await inTransaction(pool, async (tx) => {
    const isNew = commandId === "" || (await insertMasterUpdate(tx, commandId, now()));
    if (isNew && labels !== undefined) await relabel(tx, { kind: "MASTER", login }, labels);
    return isNew ? await changeMaster(tx, id, change) : await findMasterById(tx, id);
  });
  assert(master !== undefined, "a Master is never deleted");
  return master;
}

const NOTHING_TO_CHANGE = {
  field: "",
  code: "nothing_to_change",
  message: "At least one of name, strategy_name, strategy, min_deposit, external_id and metadata is required.",
};
