import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { labelErrors } from "#kernel/labels.ts";
import type { CreateInvestorRequest, CreateInvestorResponse } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { checkAll, commandError, leverageError, nameError, ownerErrors } from "../domain/checks.ts";
import { provisioningKey } from "../domain/provisioning.ts";
import { decryptPasswords } from "../passwords.ts";
import { refuse } from "../refusals.ts";
import { findInvestorById } from "../store/investors.ts";
import { provision } from "../processes/fulfil.ts";

/** Provisions an Investor account with no balance and no Master. */
export async function createInvestor(
  deps: Deps,
  request: CreateInvestorRequest,
  context: CallContext,
): Promise<CreateInvestorResponse> {
  const { username: email, ...details } = request;
  const operationId = context.commandId;
  checkAll(
    commandError(operationId),
    ...ownerErrors(request),
    nameError("name", details.name),
    leverageError(details.leverage),
    ...labelErrors(details.labels),
  );
  const ofMaster = { minDeposit: 0n, strategyName: undefined, strategy: undefined };
  const made = await provision(deps, { ...details, email, operationId, kind: "INVESTOR", ...ofMaster }, context);

  const investor = await findInvestorById(deps.pool, made.becameId ?? 0n);
  const passwords = await decryptPasswords(deps, provisioningKey(made, "investor"));
  assert(investor !== undefined, "an active provisioning has its Investor");
  // The account exists, so a repeated request creates no other one; its passwords do not exist any more.
  if (passwords === undefined) {
    const message = `Investor ${investor.login} was created by this request, and its personal data was erased since.`;
    throw refuse("investor_erased", message, { outcome: "not_executed", operationId });
  }
  return {
    // A repeated command gets the same answer, also after the Investor was renamed.
    investor: { ...investor, name: made.name },
    mainPassword: passwords.main.reveal(),
    investorPassword: passwords.investor.reveal(),
  };
}
