import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, queryContext } from "#kernel/contract/deadlines.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import type { Money } from "#kernel/money.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { DepositRequest, DepositResponse } from "#proto/pamm/funding/v1/funding.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { checkMovement } from "../domain/amount.ts";
import { decideDeposit } from "../domain/deposit.ts";
import { hasPostedDeposit, markAskedAgain } from "../store/cashflows.ts";
import { findDeposit, getDeposit, insertDepositDecision, type RecordedDeposit } from "../store/deposits.ts";
import { insertOnce, twinRuleOf } from "./insert-once.ts";
import { settleDeposit } from "./settle-deposit.ts";

/** Credits an Investor once, however often the same command id asks for it. */
export async function deposit(deps: Deps, request: DepositRequest, context: CallContext): Promise<DepositResponse> {
  const { cashflow, decision } = await failAsUnavailable(() => findOrRecord(deps, request, context));
  const dealId = await settleDeposit(deps, cashflow, context);
  return {
    operationId: cashflow.operationId,
    dealId,
    firstDepositChecked: decision.firstDepositChecked,
    minDepositRequired: moneyToProto(decision.minDeposit),
    possibleDuplicateOf: cashflow.possibleDuplicateOf,
  };
}

async function findOrRecord(deps: Deps, request: DepositRequest, context: CallContext): Promise<RecordedDeposit> {
  const known = await findDeposit(deps.pool, context.commandId);
  return known === undefined ? await record(deps, request, context) : await join(deps.pool, known);
}

/** Somebody else may have sent it: read once more after everybody has been told that they are not alone. */
async function join(db: Queryable, { cashflow }: RecordedDeposit): Promise<RecordedDeposit> {
  await markAskedAgain(db, cashflow.id);
  return await getDeposit(db, cashflow.operationId);
}

async function record(deps: Deps, request: DepositRequest, context: CallContext): Promise<RecordedDeposit> {
  const { login, comment } = request;
  const { commandId: operationId, deadline } = context;
  const amount = moneyFromProto(request.amount);
  checkMovement({ operationId, amount, comment });
  await deps.accounts.findInvestor({ login }, queryContext(context));
  const masterMinimum = await findMasterMinimum(deps, login, context);

  return await inTransaction(deps.pool, async (tx) => {
    // Two first deposits at once are both held to the minimum: neither is there yet when the other asks.
    const decision = decideDeposit({ amount, isFirst: !(await hasPostedDeposit(tx, login)), masterMinimum });
    const asked = { operationId, login, amount, comment, deadline, at: deps.now(), twins: twinRuleOf(request.client) };
    const { cashflow, isNew } = await insertOnce(tx, { ...asked, action: "deposit" });
    if (!isNew) {
      return await join(tx, await getDeposit(tx, operationId));
    }
    await insertDepositDecision(tx, cashflow.id, decision);
    return { cashflow, decision };
  });
}

async function findMasterMinimum(deps: Deps, investorLogin: string, context: CallContext): Promise<Money | undefined> {
  const { subscription } = await deps.subscriptions.findOpenSubscription({ investorLogin }, queryContext(context));
  if (subscription?.status !== SubscriptionStatus.ACTIVE) {
    return undefined;
  }
  const { minDeposit } = await deps.accounts.findMaster({ login: subscription.masterLogin }, queryContext(context));
  return moneyFromProto(minDeposit, "min_deposit");
}
