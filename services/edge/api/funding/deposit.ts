import { moneyFromProto } from "#kernel/contract/money.ts";
import { formatAmount } from "#kernel/values/money.ts";
import type { Money } from "#proto/pamm/common/v1/money.ts";
import { bool, choice, model, string } from "../../fields/field.ts";
import { always, at, shown } from "../../fields/message.ts";
import { currencyReply, decimalReply, investorLoginReply, moneyReply, ticketReply } from "../../fields/reply-fields.ts";
import { route } from "../../http/route.ts";
import { operationLabelFields } from "../schemas/labels.ts";
import { movementQuery, ofClient, reportDuplicate } from "./movement.ts";

const DEFAULT_COMMENT = "API Deposit";

export const depositFunds = route("POST /api/v1/investor/deposit", {
  scope: "funds:deposit",
  summary: "Deposit funds to an Investor",
  description:
    "Credits the Investor account in this call; the Master follows within seconds. Parameters are in the query; a JSON body may have `external_id` and `metadata`, anything else in it is ignored.",
  returns: "The money is on the Investor's account.",
  query: movementQuery(DEFAULT_COMMENT),
  body: operationLabelFields,
  hasOptionalBody: true,
  reply: model("Deposit", "A deposit that was executed.", {
    status: always(
      choice(
        { success: "The money was credited." },
        { description: "Whether the deposit was executed.", example: "success" },
      ),
      "success",
    ),
    action: always(choice({ deposit: "A deposit." }, { description: "What was done.", example: "deposit" }), "deposit"),
    login: investorLoginReply(),
    amount: moneyReply("Credited amount."),
    currency: currencyReply,
    deal_id: ticketReply("Ticket of the deal on the platform."),
    message: at(
      "amount",
      shown(
        string({ description: "What was done, in one sentence.", example: "Deposited 250.50 USD." }),
        (amount: Money | undefined) => `Deposited ${formatAmount(moneyFromProto(amount))}.`,
      ),
    ),
    first_deposit_checked: bool({
      description:
        "Whether the Investor follows a Master and this is its first deposit of all, not the first since the assign, so that the Master's minimum deposit was looked at. A deposit is never refused for it.",
      example: false,
    }),
    min_deposit_required: decimalReply("Minimum deposit of the active Master; 0.00 without one."),
  }),
  refusals: [
    "investor_not_found",
    "operation_in_progress",
    "possible_duplicate",
    "account_archived",
    "account_busy",
    "insufficient_funds",
    "platform_rejected",
    "platform_unavailable",
    "safety_stop",
  ],
  headers: ["X-Possible-Duplicate-Of"],

  async call({ funding }, request, context) {
    const { idempotencyKey } = context;
    const done = await funding.deposit({ ...ofClient(request, context, DEFAULT_COMMENT), idempotencyKey }, context);
    context.reportOperation(done.operationId);
    reportDuplicate(context, done);
    return { ...request, ...done };
  },
});
