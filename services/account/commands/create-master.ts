import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { labelErrors } from "#kernel/labels.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { CreateMasterRequest, CreateMasterResponse } from "#proto/pamm/account/v1/account.ts";
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
import type { Master } from "../domain/master.ts";
import { type Provisioning, provisioningKey } from "../domain/provisioning.ts";
import { decryptPasswords } from "../passwords.ts";
import { findMasterById } from "../store/masters.ts";
import { provision } from "../processes/fulfil.ts";

/** Provisions a trading account and its payment account together. */
export async function createMaster(
  deps: Deps,
  request: CreateMasterRequest,
  context: CallContext,
): Promise<CreateMasterResponse> {
  const { username: email, strategyName, strategy, ...details } = request;
  const { minor: minDeposit } = moneyFromProto(request.minDeposit, "min_deposit");
  const operationId = context.commandId;
  checkAll(
    commandError(operationId),
    ...ownerErrors(request),
    nameError("name", details.name),
    textError("strategy_name", strategyName),
    linesError("strategy", strategy),
    leverageError(details.leverage),
    ...labelErrors(details.labels),
    minDepositError(minDeposit),
  );
  const ofMaster = { minDeposit, strategyName, strategy };
  const made = await provision(deps, { ...details, email, operationId, kind: "MASTER", ...ofMaster }, context);

  const master = await findMasterById(deps.pool, made.becameId ?? 0n);
  const passwords = await decryptPasswords(deps, provisioningKey(made, "trading"));
  assert(master !== undefined && passwords !== undefined, "an active provisioning has its Master and passwords");
  return {
    master: masterMessage(asRequested(master, made)),
    mainPassword: passwords.main.reveal(),
    investorPassword: passwords.investor.reveal(),
  };
}

/** A repeated command gets the same answer, also after the Master was changed by a later command. */
function asRequested(master: Master, made: Provisioning): Master {
  const { name, strategyName, strategy, minDeposit, paymentLogin = master.paymentLogin } = made;
  return { ...master, name, strategyName, strategy, minDeposit, paymentLogin };
}
