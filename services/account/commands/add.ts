import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { labelErrors } from "#kernel/values/labels.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import { isTransientFailure } from "#kernel/jobs/transient-failure.ts";
import type {
  AddInvestorRequest,
  AddMasterRequest,
  Investor as InvestorMessage,
  Master as MasterMessage,
} from "#proto/pamm/account/v1/account.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import type { Deps } from "../deps.ts";
import { registerInvestor, registerMaster } from "../directory-changes.ts";
import { countInvestorsOf, masterMessage } from "../directory.ts";
import {
  checkAll,
  linesError,
  loginError,
  minDepositError,
  nameError,
  paymentEqualsMaster,
  textError,
} from "../domain/checks.ts";
import { requireFreeExternalId } from "../processes/profile.ts";
import { requireRegistrable } from "../processes/register.ts";
import { refuse } from "../refusals.ts";
import { findInvestorByCommand } from "../store/investors.ts";
import { findMasterByCommand } from "../store/masters.ts";

/** Registers two existing accounts as a Master. platform takes both under management before the Master is inserted. */
export async function addMaster(deps: Deps, request: AddMasterRequest, context: CallContext): Promise<MasterMessage> {
  const { login, paymentAccountLogin: paymentLogin, name = login, strategyName, strategy, labels } = request;
  const { minor: minDeposit } = moneyFromProto(request.minDeposit, "min_deposit");
  checkAll(
    loginError("mt5_login", login),
    loginError("payment_account_login", paymentLogin),
    nameError("name", name),
    textError("strategy_name", strategyName),
    linesError("strategy", strategy),
    minDepositError(minDeposit),
    ...labelErrors(labels),
  );
  if (login === paymentLogin) throw paymentEqualsMaster(login);
  const { commandId } = context;
  return await registerOnce({
    async register() {
      const trading = { field: "mt5_login", login, wanted: "MASTER" } as const;
      const payment = { field: "payment_account_login", login: paymentLogin, wanted: "PAYMENT" } as const;
      await requireRegistrable(deps, [trading, payment], context);
      await requireFreeExternalId(deps.pool, "MASTER", labels);
      // First the account with open positions would be refused.
      await deps.platform.adoptAccount({ login: paymentLogin, role: AccountRole.PAYMENT }, context);
      await deps.platform.adoptAccount({ login, role: AccountRole.MASTER }, context);
      const texts = { name, strategyName, strategy };
      const profile = { email: undefined, labels };
      const master = { login, paymentLogin, ...texts, minDeposit, createdAt: deps.now(), commandId, profile };
      return masterMessage(await inTransaction(deps.pool, (tx) => registerMaster(tx, master)), 0n);
    },
    async find() {
      const master = await findMasterByCommand(deps.pool, commandId);
      return master && masterMessage(master, await countInvestorsOf(deps, master.login, context));
    },
  });
}

/** Registers an existing account as an Investor. Moves no funds. */
export async function addInvestor(
  deps: Deps,
  { login, name, labels }: AddInvestorRequest,
  context: CallContext,
): Promise<InvestorMessage> {
  checkAll(loginError("mt5_login", login), nameError("name", name), ...labelErrors(labels));
  const { commandId } = context;
  return await registerOnce({
    async register() {
      await requireRegistrable(deps, [{ field: "mt5_login", login, wanted: "INVESTOR" }], context);
      await requireFreeExternalId(deps.pool, "INVESTOR", labels);
      await deps.platform.adoptAccount({ login, role: AccountRole.INVESTOR }, context);
      const investor = { login, name, createdAt: deps.now(), commandId, profile: { email: undefined, labels } };
      return await inTransaction(deps.pool, (tx) => registerInvestor(tx, investor));
    },
    find: () => findInvestorByCommand(deps.pool, commandId),
  });
}

type Registration<T> = {
  /** What an earlier call with the same command id registered. */
  readonly find: () => Promise<T | undefined>;
  /** Safe to repeat after a failure at any point: the Master or Investor is inserted last. */
  readonly register: () => Promise<T>;
};

/** Registers once per command id; a repeated or concurrent call with the id is answered with what was registered. */
async function registerOnce<T>({ find, register }: Registration<T>): Promise<T> {
  const before = await find().catch((error: unknown) => {
    throw isTransientFailure(error) ? unavailable("service_unavailable", "The directory cannot be read") : error;
  });
  if (before !== undefined) return before;
  try {
    return await register();
  } catch (error) {
    const registered = await find();
    if (registered !== undefined) return registered;
    if (violatedConstraint(error) === "account_pkey") {
      throw refuse("login_in_use", "Another request registered the login at the same time.", {
        outcome: "not_executed",
      });
    }
    throw isTransientFailure(error)
      ? unavailable("platform_unavailable", "The trading platform cannot be reached")
      : error;
  }
}

function unavailable(code: "service_unavailable" | "platform_unavailable", why: string): Refusal {
  return refuse(code, `${why}. Nothing was registered.`, { outcome: "not_executed" });
}
