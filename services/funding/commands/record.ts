import assert from "node:assert/strict";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { later } from "#kernel/jobs/retry.ts";
import type { WithdrawRequest } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { checkMovement } from "../domain/amount.ts";
import type { Cashflow, InvestorFacts, NewCashflow } from "../domain/cashflow.ts";
import { duplicateRuleOf } from "../domain/duplicate.ts";
import { getCashflowById } from "../store/cashflows.ts";
import { markRepeated } from "../store/cashflow-transitions.ts";
import { clientKeyOf, type Recorded } from "./record-cashflows.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { addInvestor, addMaster } from "../store/investor-facts.ts";

/**
 * Records a requested operation with the others that wait, or finds the one with its id; that is marked as repeated, so that no request concludes
 * alone that nothing was sent. Refusals: validation_failed, investor_not_found, and those of duplicates.
 */
export async function record(
  deps: Deps,
  action: Cashflow["action"],
  request: WithdrawRequest,
  context: CallContext,
): Promise<Cashflow> {
  const { cashflow, isNew } = await insertOrFind(deps, draftOf(action, request, context, deps.now()), context);
  if (isNew) return cashflow;
  await markRepeated(deps.pool, [cashflow.id]);
  return await getCashflowById(deps.pool, cashflow.id);
}

function draftOf(action: Cashflow["action"], request: WithdrawRequest, context: CallContext, at: Date): NewCashflow {
  const { login, comment, client, idempotencyKey, labels, queueForMs } = request;
  const { commandId: operationId, deadline } = context;
  const { minor: amount } = moneyFromProto(request.amount);
  checkMovement({ operationId, amount, comment, labels, queueForMs });
  return {
    operationId,
    action,
    login,
    amount,
    comment,
    labels,
    deadline,
    at,
    duplicates: duplicateRuleOf(client, labels),
    clientKey: clientKeyOf(idempotencyKey),
    queueUntil: queueForMs === undefined ? undefined : later(at, Number(queueForMs)),
  };
}

async function insertOrFind(deps: Deps, draft: NewCashflow, context: CallContext): Promise<Recorded> {
  const byMs = performance.now() + remainingMs(context);
  const { result } = await deps.queues.recording.add(draft, byMs);
  if (result !== "unknown_investor") return result;
  const asked = await askFacts(deps, draft.login, context);
  const again = await deps.queues.recording.add({ ...draft, asked }, byMs);
  assert(again.result !== "unknown_investor", `The facts about Investor ${draft.login} are known.`);
  return again.result;
}

/**
 * Asks the owners for the facts about an Investor: before its first deposit, and when its events are older than this database or
 * have not arrived yet. Refusal: investor_not_found.
 */
async function askFacts(
  { pool, accounts, subscriptions }: Deps,
  login: string,
  context: CallContext,
): Promise<InvestorFacts> {
  await accounts.findInvestor({ login }, queryContext(context));
  const { subscription } = await subscriptions.findOpenSubscription({ investorLogin: login }, queryContext(context));
  const masterLogin = subscription?.status === SubscriptionStatus.ACTIVE ? subscription.masterLogin : undefined;
  const master = masterLogin && (await accounts.findMaster({ login: masterLogin }, queryContext(context)));
  const masterMinimum = master ? moneyFromProto(master.minDeposit, "min_deposit").minor : undefined;
  if (masterLogin !== undefined && masterMinimum !== undefined) await addMaster(pool, masterLogin, masterMinimum);
  await addInvestor(pool, { login, masterLogin });
  return { masterMinimum, masterLogin };
}
