import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, queryContext, withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { RECOVERY_GRACE_MS } from "#kernel/jobs/retry.ts";
import { isTransientFailure } from "#kernel/jobs/transient-failure.ts";
import type { EraseInvestorRequest, EraseInvestorResponse } from "#proto/pamm/account/v1/account.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { getInvestorByLogin } from "../directory.ts";
import { checkAll, loginError, nameError } from "../domain/checks.ts";
import { type ClosingFacts, decideClosed, type Erasure, ERASED } from "../domain/erasure.ts";
import { refuse } from "../refusals.ts";
import { eraseRows, findErasure, insertErasure } from "../store/erasures.ts";
import { finishErasure } from "../jobs/finish-erasures.ts";

/**
 * Erases the personal data of a closed Investor for good. The own rows are erased in the commit that records the decision; the account on the
 * trading platform follows, and a recovery job continues until it is confirmed.
 */
export async function eraseInvestor(
  deps: Deps,
  { login, actor }: EraseInvestorRequest,
  context: CallContext,
): Promise<EraseInvestorResponse> {
  checkAll(loginError("investor_login", login), nameError("actor", actor));
  const investor = await failAsUnavailable(() => getInvestorByLogin(deps, login));
  const recorded = await failAsUnavailable(async () => (await findErasure(deps.pool, login)) ?? (await record()));
  const { requestedBy, requestedAt, erasedAt, onPlatform } = await finishErasure(
    deps,
    recorded,
    withReplyReserve(context),
  ).catch((error: unknown) => {
    throw stillErasing(error);
  });
  return { investor: { ...investor, name: ERASED }, requestedBy, requestedAt, erasedAt, onPlatform };

  async function record(): Promise<Erasure> {
    decideClosed(investor, await closingFacts(deps, login, context));
    const erasure = { login, requestedBy: actor, requestedAt: deps.now() };
    const isNew = await inTransaction(deps.pool, async (tx) => {
      if (!(await insertErasure(tx, erasure, remainingMs(context) + RECOVERY_GRACE_MS))) return false;
      await eraseRows(tx, login);
      return true;
    });
    const other = isNew ? undefined : await findErasure(deps.pool, login);
    return other ?? { ...erasure, erasedAt: undefined, onPlatform: undefined };
  }
}

async function closingFacts(
  { platform, subscriptions }: Deps,
  login: string,
  call: CallContext,
): Promise<ClosingFacts> {
  const context = queryContext(call);
  const [{ subscription }, closing] = await Promise.all([
    subscriptions.findOpenSubscription({ investorLogin: login }, context),
    platform.inspectClosing({ login }, context),
  ]);
  const { openPositions, operationOpen } = closing;
  return {
    subscription: subscription && {
      masterLogin: subscription.masterLogin,
      status: subscription.status === SubscriptionStatus.PAUSED ? "PAUSED" : "ACTIVE",
    },
    balance: moneyFromProto(closing.balance, "balance"),
    credit: moneyFromProto(closing.credit, "credit"),
    openPositions,
    operationOpen,
  };
}

/** The decision is recorded: what failed is tried again. A refusal of the trading platform is shown, because operators have to act. */
function stillErasing(error: unknown): unknown {
  if (!(error instanceof Refusal) && !isTransientFailure(error)) return error;
  if (error instanceof Refusal && error.code === "platform_rejected") {
    return refuse(
      "platform_rejected",
      `${error.message} The personal data is erased in the service, which tries again.`,
      {
        details: error.details,
        outcome: "unknown",
      },
    );
  }
  return refuse(
    "outcome_unknown",
    "The personal data is erased in the service, which tries again on the trading platform. Repeat the request to see the end.",
    { outcome: "unknown" },
  );
}
