import { OperationAction, OperationOutcome, type Operation } from "#proto/pamm/funding/v1/funding.ts";
import { exitKey } from "../domain/lifecycle.ts";
import type { Deps } from "../deps.ts";
import { listExitKeys, type RecordedOperation } from "../store/operations.ts";

const ACTIONS = { assign: OperationAction.ASSIGN, unassign: OperationAction.UNASSIGN } as const;

/** More transfers than one exit ever has. */
const MOST_KEYS = 20;

/** What the books know of an assign or unassign, and under which keys others know its movements. */
export async function describe({ pool }: Deps, recorded: RecordedOperation): Promise<Operation> {
  const { subscriptionId, commandId, action, investorLogin, outcome, refusalCode, createdAt, finishedAt } = recorded;
  const hasLeft = action === "unassign" && outcome === "EXECUTED";
  return {
    operationId: commandId,
    action: ACTIONS[action],
    login: investorLogin,
    // Nobody asks for an amount here.
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
    transferKeys: hasLeft ? await listExitKeys(pool, subscriptionId, MOST_KEYS) : [],
  };
}
