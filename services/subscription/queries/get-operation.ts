import {
  type GetOperationRequest,
  type Operation,
  OperationAction,
  OperationOutcome,
} from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { exitKey } from "../domain/lifecycle.ts";
import { refuse } from "../refusals.ts";
import { findOperation, listExitKeys, type RecordedOperation } from "../store/operations.ts";

/** The outcome of an assign or unassign. Not found when it was refused before it was recorded, or never received. */
export async function getOperation(deps: Deps, { operationId }: GetOperationRequest): Promise<Operation> {
  const recorded = await findOperation(deps.pool, operationId, deps.now());
  if (recorded === undefined) throw refuse("operation_not_found", `Operation ${operationId} is not recorded.`);
  return await operationMessage(deps, recorded);
}

const ACTIONS = { assign: OperationAction.ASSIGN, unassign: OperationAction.UNASSIGN } as const;

/** More than the exit transfers of any one exit. */
const MAX_KEYS = 20;

/** The operation message, with the keys under which fee and platform have its fees and transfers. */
export async function operationMessage({ pool }: Deps, recorded: RecordedOperation): Promise<Operation> {
  const { subscriptionId, commandId, action, investorLogin, outcome, refusalCode, createdAt, finishedAt } = recorded;
  const hasLeft = action === "unassign" && outcome === "EXECUTED";
  return {
    operationId: commandId,
    action: ACTIONS[action],
    login: investorLogin,
    // Assign and unassign have no amount.
    amount: undefined,
    comment: "",
    outcome: OperationOutcome[outcome],
    refusalCode: outcome === "NOT_EXECUTED" ? (refusalCode ?? "") : "",
    dealId: undefined,
    createdAt,
    finishedAt: finishedAt ?? undefined,
    reference: "",
    legs: [],
    feeKey: hasLeft ? exitKey(subscriptionId) : "",
    transferKeys: hasLeft ? await listExitKeys(pool, subscriptionId, MAX_KEYS) : [],
  };
}
