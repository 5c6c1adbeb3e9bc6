import { Type } from "typebox";
import { formatDecimal, isPositive } from "#kernel/money.ts";
import type { PreviewWithdrawResponse } from "#proto/pamm/funding/v1/funding.ts";
import { blockingFields, blockingReply } from "../schemas/blocking.ts";
import { currencyReply } from "../../fields/currency.ts";
import { bool, choice, model, nullableDecimal, nullableString, setOf } from "../../fields/field.ts";
import { investorLoginReply, moneyReply, nullableDecimalReply } from "../schemas/reply-fields.ts";
import { labelsOf, operationLabelFields } from "../schemas/labels.ts";
import { route } from "../../http/route.ts";
import { moneyNumber, moneyText } from "../../wire/money.ts";
import { movementOf, movementQuery, reportDuplicate } from "./movement.ts";
import { WITHDRAW_COMMENT } from "./withdraw.ts";
import { heldBackOf, outcomeText } from "./withdrawal-text.ts";

const withdrawalStatus = setOf("WithdrawalStatus", "Whether money would be paid out.", {
  success: "The requested amount would be paid out, or what is available of it.",
  no_funds: "Nothing is available, so nothing would be paid out.",
});

export const previewWithdraw = route({
  operationId: "previewWithdrawal",
  method: "POST",
  url: "/api/v1/investor/withdraw/preview",
  scope: "funds:withdraw",
  class: "read",
  changesNothing: true,
  tag: "Funds",
  summary: "Preview a withdrawal",
  description:
    "Says what `POST /api/v1/investor/withdraw` with the same parameters would do now, and everything for which it would be refused. Nothing is executed, locked or recorded. While the Master has open positions, the figures are those of its closed trades.",
  returns: "What the withdrawal would do.",
  query: movementQuery(WITHDRAW_COMMENT),
  body: Type.Object(operationLabelFields),
  hasOptionalBody: true,
  reply: model("WithdrawalPreview", "What a withdrawal would do now. Figures are null while they cannot be read.", {
    ...blockingFields,
    status: withdrawalStatus.orNull("Status of the answer; null without figures.", "success"),
    action: choice({ withdraw: "A withdrawal." }, { description: "What would be done.", example: "withdraw" }),
    login: investorLoginReply(),
    requested_amount: moneyReply("Requested amount."),
    effective_withdraw: nullableDecimal({
      description: "Amount that would be paid out; it can be less than requested, or 0.",
      example: 250.5,
    }),
    currency: currencyReply,
    message: nullableString({
      description:
        "What would be withdrawn, why it would be reduced, and how much is held back, in words; null without figures.",
      example: "Would withdraw 250.50 USD.",
    }),
    check_open_positions: bool({ description: "Whether the Master's open positions are checked.", example: true }),
    perf_fee_pending_at_request: nullableDecimalReply("Performance fee that would be collected first."),
    balance_before: nullableDecimalReply("Balance before the withdrawal."),
    available_after_perf_fee: nullableDecimalReply(
      "Free to withdraw: what is left after the fee, without funds under review.",
    ),
    held_back: nullableDecimalReply("Funds under review, which are neither fee nor available.", "0.00"),
  }),
  refusals: ["investor_not_found"],
  headers: ["X-Possible-Duplicate-Of"],

  async handle({ funding }, { query, body }, context) {
    const requested = { ...query, labels: labelsOf(body) };
    const { idempotencyKey: _, ...movement } = movementOf(requested, context, WITHDRAW_COMMENT);
    const preview = await funding.previewWithdraw(movement, context);
    reportDuplicate(context, preview.possibleDuplicateOf);
    return {
      ...blockingReply(preview.refusals),
      ...figuresOf(preview, movement.amount),
      action: "withdraw" as const,
      login: query.login,
      requested_amount: moneyNumber(movement.amount),
      currency: "USD",
      check_open_positions: preview.openPositionsChecked,
    };
  },
});

function figuresOf({ figures, refusals }: PreviewWithdrawResponse, requested: Parameters<typeof outcomeText>[1]) {
  if (figures === undefined) {
    const texts = { perf_fee_pending_at_request: null, balance_before: null, available_after_perf_fee: null };
    return { status: null, message: null, effective_withdraw: null, ...texts, held_back: null };
  }
  const heldBack = heldBackOf(figures);
  return {
    ...outcomeText(figures, requested, heldBack, refusals.length === 0 ? "possible" : "blocked"),
    effective_withdraw: moneyNumber(figures.effectiveWithdraw),
    perf_fee_pending_at_request: moneyText(figures.pendingFee),
    balance_before: moneyText(figures.balanceBefore),
    available_after_perf_fee: moneyText(figures.availableAfterFee),
    held_back: isPositive(heldBack) ? formatDecimal(heldBack) : "0.00",
  };
}
