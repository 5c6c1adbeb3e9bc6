import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { labelErrors } from "#kernel/values/labels.ts";
import type {
  CreateInvestorRequest,
  CreateInvestorResponse,
  CreateMasterRequest,
  CreateMasterResponse,
} from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { masterMessage } from "../directory.ts";
import {
  checkAll,
  commandError,
  leverageError,
  linesError,
  minDepositError,
  nameError,
  ownerErrors,
  textError,
} from "../domain/checks.ts";
import { type NewProvisioning, type Provisioning, provisioningKey } from "../domain/provisioning.ts";
import { decryptPasswords, type Passwords } from "../passwords.ts";
import { provision } from "../processes/fulfil.ts";
import { refuse } from "../refusals.ts";
import { findInvestorById } from "../store/investors.ts";
import { findMasterById } from "../store/masters.ts";

/** Provisions a trading account and its payment account together. */
export async function createMaster(
  deps: Deps,
  { minDeposit: minimum, strategyName, strategy, ...request }: CreateMasterRequest,
  context: CallContext,
): Promise<CreateMasterResponse> {
  const { minor: minDeposit } = moneyFromProto(minimum, "min_deposit");
  const ofMaster = { kind: "MASTER", minDeposit, strategyName, strategy } as const;
  const { made, passwords } = await create(deps, request, ofMaster, context);
  const master = await findMasterById(deps.pool, made.becameId ?? 0n);
  assert(master !== undefined && passwords !== undefined, "an active provisioning has its Master and passwords");
  // A repeated command gets the same answer, also after the Master was changed by a later command.
  const { name, paymentLogin = master.paymentLogin } = made;
  const asRequested = { ...master, name, strategyName: made.strategyName, strategy: made.strategy };
  return {
    master: masterMessage({ ...asRequested, minDeposit: made.minDeposit, paymentLogin }),
    ...revealed(passwords),
  };
}

/** Provisions an Investor account with no balance and no Master. */
export async function createInvestor(
  deps: Deps,
  request: CreateInvestorRequest,
  context: CallContext,
): Promise<CreateInvestorResponse> {
  const ofMaster = { kind: "INVESTOR", minDeposit: 0n, strategyName: undefined, strategy: undefined } as const;
  const { made, passwords } = await create(deps, request, ofMaster, context);
  const investor = await findInvestorById(deps.pool, made.becameId ?? 0n);
  assert(investor !== undefined, "an active provisioning has its Investor");
  // The account exists, so a repeated request creates no other one; its passwords do not exist any more.
  if (passwords === undefined) {
    const message = `Investor ${investor.login} was created by this request, and its personal data was erased since.`;
    throw refuse("investor_erased", message, { outcome: "not_executed", operationId: made.operationId });
  }
  // A repeated command gets the same answer, also after the Investor was renamed.
  return { investor: { ...investor, name: made.name }, ...revealed(passwords) };
}

type OfMaster = Pick<NewProvisioning, "kind" | "minDeposit" | "strategyName" | "strategy">;
type Created = { readonly made: Provisioning; readonly passwords: Passwords | undefined };

async function create(
  deps: Deps,
  { username: email, ...details }: CreateInvestorRequest,
  ofMaster: OfMaster,
  context: CallContext,
): Promise<Created> {
  const operationId = context.commandId;
  checkAll(
    commandError(operationId),
    ...ownerErrors({ ...details, username: email }),
    nameError("name", details.name),
    textError("strategy_name", ofMaster.strategyName),
    linesError("strategy", ofMaster.strategy),
    leverageError(details.leverage),
    ...labelErrors(details.labels),
    minDepositError(ofMaster.minDeposit),
  );
  const made = await provision(deps, { ...details, ...ofMaster, email, operationId }, context);
  const role = ofMaster.kind === "MASTER" ? "trading" : "investor";
  return { made, passwords: await decryptPasswords(deps, provisioningKey(made, role)) };
}

function revealed({ main, investor }: Passwords) {
  return { mainPassword: main.reveal(), investorPassword: investor.reveal() };
}
