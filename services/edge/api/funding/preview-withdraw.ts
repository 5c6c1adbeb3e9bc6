import { formatDecimal } from "#kernel/values/money.ts";
import type { Money } from "#proto/pamm/common/v1/money.ts";
import type { PreviewWithdrawResponse, WithdrawalFigures } from "#proto/pamm/funding/v1/funding.ts";
import { bool, choice, model, nullableString, setOf } from "../../fields/field.ts";
import { always, at, ofWhole, shown, withinOrNull } from "../../fields/message.ts";
import {
  currencyReply,
  investorLoginReply,
  moneyReply,
  nullableDecimalReply,
  nullableMoneyReply,
} from "../../fields/reply-fields.ts";
import { route } from "../../http/route.ts";
import { blockingFields } from "../schemas/blocking.ts";
import { operationLabelFields } from "../schemas/labels.ts";
import { movementQuery, ofClient, reportDuplicate } from "./movement.ts";
import { WITHDRAW_COMMENT } from "./withdraw.ts";
import { heldBackOf, outcomeText, payoutStatus } from "./withdrawal-text.ts";

const withdrawalStatus = setOf("WithdrawalStatus", "Whether money would be paid out.", {
  success: "The requested amount would be paid out, or what is available of it.",
  no_funds: "Nothing is available, so nothing would be paid out.",
});

export const previewWithdrawal = route("POST /api/v1/investor/withdraw/preview", {
  scope: "funds:withdraw",
  changesNothing: true,
  summary: "Preview a withdrawal",
  description:
    "Says what `POST /api/v1/investor/withdraw` with the same parameters would do now, and everything for which it would be refused. Nothing is executed, locked or recorded. While the Master has open positions, the figures are those of its closed trades.",
  returns: "What the withdrawal would do.",
  query: movementQuery(WITHDRAW_COMMENT),
  body: operationLabelFields,
  hasOptionalBody: true,
  reply: model("WithdrawalPreview", "What a withdrawal would do now. Figures are null while they cannot be read.", {
    ...blockingFields,
    ...withinOrNull("figures", {
      status: at(
        "effectiveWithdraw",
        shown(withdrawalStatus.orNull("Status of the answer; null without figures.", "success"), payoutStatus),
      ),
    }),
    action: always(
      choice({ withdraw: "A withdrawal." }, { description: "What would be done.", example: "withdraw" }),
      "withdraw",
    ),
    login: investorLoginReply(),
    requested_amount: at("amount", moneyReply("Requested amount.")),
    ...withinOrNull("figures", {
      effective_withdraw: nullableMoneyReply("Amount that would be paid out; it can be less than requested, or 0."),
    }),
    currency: currencyReply,
    message: ofWhole(
      nullableString({
        description:
          "What would be withdrawn, why it would be reduced, and how much is held back, in words; null without figures.",
        example: "Would withdraw 250.50 USD.",
      }),
      ({ figures, amount, refusals }: Pick<PreviewWithdrawResponse, "figures" | "refusals"> & { amount: Money }) =>
        figures === undefined ? null : outcomeText(figures, amount, refusals.length === 0 ? "possible" : "blocked"),
    ),
    check_open_positions: at(
      "openPositionsChecked",
      bool({ description: "Whether the Master's open positions are checked.", example: true }),
    ),
    ...withinOrNull("figures", {
      perf_fee_pending_at_request: at(
        "pendingFee",
        nullableDecimalReply("Performance fee that would be collected first."),
      ),
      balance_before: nullableDecimalReply("Balance before the withdrawal."),
      available_after_perf_fee: at(
        "availableAfterFee",
        nullableDecimalReply("Free to withdraw: what is left after the fee, without funds under review."),
      ),
      held_back: ofWhole(
        nullableDecimalReply("Funds under review, which are neither fee nor available.", "0.00"),
        (figures: WithdrawalFigures) => {
          const heldBack = heldBackOf(figures);
          return heldBack.minor > 0n ? formatDecimal(heldBack) : "0.00";
        },
      ),
    }),
  }),
  refusals: ["investor_not_found"],
  headers: ["X-Possible-Duplicate-Of"],

  async call({ funding }, request, context) {
    const preview = await funding.previewWithdraw(ofClient(request, context, WITHDRAW_COMMENT), context);
    reportDuplicate(context, preview);
    return { ...request, ...preview };
  },
});
