import type { CallContext } from "#kernel/contract/contract.ts";
import { OperationAction, OperationOutcome, type Operation } from "#proto/pamm/funding/v1/funding.ts";
import { exitKey } from "../commands/try-to-leave.ts";
import type { Deps } from "../deps.ts";
import { listExitKeys, type RecordedOperation } from "../store/operations.ts";
import { askFeeKeys, askLegs, MOST_KEYS } from "./ask-legs.ts";

const ACTIONS = { assign: OperationAction.ASSIGN, unassign: OperationAction.UNASSIGN } as const;

/** What the books know of an assign or unassign, and what platform has recorded for it, as far as it can be asked now. */
export async function describe(deps: Deps, recorded: RecordedOperation, context: CallContext): Promise<Operation> {
  const { commandId, action, investorLogin, outcome, refusalCode, createdAt, finishedAt } = recorded;
  const legs = action === "unassign" && outcome === "EXECUTED" ? await legsOf(deps, recorded, context) : [];
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
    reference: legs.find(({ kind }) => kind === "exit")?.reference ?? "",
    legs,
  };
}

/** Fees first, as they are taken. */
async function legsOf(deps: Deps, { subscriptionId }: RecordedOperation, context: CallContext) {
  const [feeKeys, exitKeys] = await Promise.all([
    askFeeKeys(deps, exitKey(subscriptionId), context),
    listExitKeys(deps.pool, subscriptionId, MOST_KEYS),
  ]);
  return (await Promise.all([askLegs(deps, feeKeys, context), askLegs(deps, exitKeys, context)])).flat();
}
