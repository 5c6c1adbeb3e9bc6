import type { Implementation } from "#kernel/contract/contract.ts";
import type { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { configure } from "./commands/configure.ts";
import { updateConfiguration } from "./commands/update-configuration.ts";
import type { Deps } from "./deps.ts";
import { getConfiguration } from "./queries/get-configuration.ts";
import { listInvestorPayments } from "./queries/list-investor-payments.ts";
import { listPaymentCredits } from "./queries/list-payment-credits.ts";

export const FEEDS: readonly string[] = [];

/** Every rpc of the contract and the one function behind it. */
export function feeService(deps: Deps): Implementation<FeeServiceService> {
  return {
    configure: (request) => configure(deps, request),
    getConfiguration: (request, context) => getConfiguration(deps, request, context),
    updateConfiguration: (request, context) => updateConfiguration(deps, request, context),
    listPaymentCredits: (request, context) => listPaymentCredits(deps, request, context),
    listInvestorPayments: (request, context) => listInvestorPayments(deps, request, context),
  };
}
