import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { changeAccount, EMPTY_SEAT } from "../../domain/places.ts";
import { takeBaseline } from "../../domain/take-baseline.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { refuse } from "../../refusals.ts";
import { type Assignment, getAssignment, markLaneReleased, recordAssignmentRefusal } from "../../store/assignments.ts";
import { lockAccounts, saveAccounts } from "../../store/books.ts";
import { insertFlows } from "../../store/flows.ts";
import { beginWeeks, lockMaster } from "../../store/masters.ts";
import { ensurePool } from "../../store/pools.ts";
import { recordedAs } from "../../store/recorded-refusal.ts";
import { insertSeat } from "../../store/seats.ts";
import { getSubscription, moveSubscription, type Subscription } from "../../store/subscriptions.ts";
import { type Lane, releaseLane } from "../lane.ts";
import { afterOthers, patience } from "../patience.ts";

/** A Master's pool may be at work on thousands of rows. */
const LOCKS_MS = 5_000;

export function laneOfAssignment({ id, investorLogin }: Pick<Subscription, "id" | "investorLogin">): Lane {
  return { login: investorLogin, holder: `subscription:assign:${id}:1` };
}

/**
 * Finishes what was decided, as it was decided: the fee's terms first, so that no result can ever arrive without a rate,
 * then one commit that makes it ACTIVE. Safe to repeat until it succeeds.
 */
export async function finishAssignment(deps: Deps, id: bigint, context: CallContext): Promise<void> {
  failpoint("after_assignment");
  const subscription = await getSubscription(deps.pool, id);
  const assignment = await getAssignment(deps.pool, id);
  try {
    if (subscription.status === "ASSIGNING") {
      await configureFee(deps, { subscription, assignment }, context);
      await afterOthers(patience(context, LOCKS_MS), () =>
        inTransaction(deps.pool, (tx) => begin(tx, deps, { subscription, assignment })),
      );
    }
  } catch (error) {
    deps.log.error("an assignment is finished later", { id, login: subscription.investorLogin, error });
    throw refuse("outcome_unknown", "The assignment is decided and still being completed.", {
      outcome: "unknown",
      ...(context.commandId === "" ? {} : { operationId: context.commandId }),
    });
  }
  await letGo(deps, subscription, context);
}

/** Gives up what was not decided. One that was decided meanwhile goes on; only its lane stays as it is. */
export async function abandonAssignment(
  deps: Deps,
  subscription: Subscription,
  refusal: Refusal,
  context: CallContext,
): Promise<void> {
  const isOver = await inTransaction(deps.pool, async (tx) => {
    if (!(await moveSubscription(tx, subscription.id, "refused"))) return false;
    await recordAssignmentRefusal(tx, subscription.id, recordedAs(refusal));
    return true;
  });
  if (isOver) await letGo(deps, subscription, context);
}

/** Of a story that has ended. */
export async function letGo(deps: Deps, subscription: Subscription, context: CallContext): Promise<void> {
  const isReleased = await releaseLane(deps, laneOfAssignment(subscription), context);
  if (isReleased) await markLaneReleased(deps.pool, subscription.id);
}

type Story = { readonly subscription: Subscription; readonly assignment: Assignment };

async function configureFee({ fees }: Deps, { subscription, assignment }: Story, context: CallContext): Promise<void> {
  const { id, investorId, investorLogin, startedAt } = subscription;
  const { feeRatePpm: ratePpm, feeEnabled: enabled } = assignment;
  assert(startedAt !== null, "only what was decided is finished");
  const key = `subscription:${id}`;
  await fees.configure(
    { key, investorId, investorLogin, ratePpm, enabled, effectiveSince: startedAt },
    withReplyReserve(context),
  );
}

/** ASSIGNING -> ACTIVE: the held balance joins the pool under the lock that filing takes too. */
async function begin(tx: Transaction, { now, bells, week }: Deps, { subscription, assignment }: Story): Promise<void> {
  const { id, masterLogin, investorLogin } = subscription;
  const { heldBalance } = assignment;
  assert(heldBalance !== null, "a decision has its facts");
  await ensurePool(tx, masterLogin);
  // Who is in a pool changes under its lock alone: allocations and weeks go by it.
  await lockMaster(tx, masterLogin);
  const [account] = await lockAccounts(tx, [investorLogin]);
  assert(account !== undefined);
  // Another process has finished it.
  if (!(await moveSubscription(tx, id, "assigned"))) return;
  await beginWeeks(tx, masterLogin, lastCutOff(week, now()));
  const { account: onAccount, inbound } = takeBaseline(account.places, heldBalance);
  await saveAccounts(tx, [{ ...account, places: changeAccount(account.places, onAccount), pooledIn: id }]);
  const places = { ...EMPTY_SEAT, inbound };
  await insertSeat(tx, { subscriptionId: id, masterLogin, investorLogin, isPooled: true, places });
  if (inbound === 0n) return;
  await insertFlows(tx, [{ subscriptionId: id, amount: inbound }], now());
  afterCommit(tx, bells.mirrors.ring);
}
