import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import type { Money } from "#proto/pamm/common/v1/money.ts";
import type { DepartureFigures } from "#proto/pamm/subscription/v1/subscription.ts";
import { bool, model, nullableDecimal, nullableInteger } from "../../fields/field.ts";
import { at, shown, withinOrNull } from "../../fields/message.ts";
import { moneyReply, nullableDecimalReply } from "../../fields/reply-fields.ts";
import { Accepted, route } from "../../http/route.ts";
import { blockingFields } from "../schemas/blocking.ts";
import { operationLabelFields } from "../schemas/labels.ts";
import { queuedStatus, queueQuery } from "../schemas/queue.ts";
import { investorLogin, masterLogin } from "../schemas/request-fields.ts";
import { EndingSubscription } from "../schemas/subscription.ts";
import { type JsonNumber, moneyNumber } from "../../wire/number.ts";

const Unassignment = model("Unassignment", "The beginning of an exit.", {
  subscription: EndingSubscription,
  payout_enqueued: bool({ description: "Whether an exit transfer leaves the Master.", example: true }),
  mt5_transfer_id: at(
    "transferId",
    nullableInteger({ description: "Id of the exit transfer; null when nothing leaves the Master.", example: 77 }),
  ),
  amount: moneyReply("What leaves the Master: negative, or 0.", -250.5),
});

const QueuedUnassignment = model("QueuedUnassignment", "An unassign that waits until the Master is flat.", {
  status: queuedStatus,
  subscription: EndingSubscription,
  payout_enqueued: bool({ description: "Whether an exit transfer leaves the Master: not yet.", example: false }),
  mt5_transfer_id: at(
    "transferId",
    nullableInteger({ description: "Id of the exit transfer: null, because there is none.", example: null }),
  ),
  amount: moneyReply("What leaves the Master: 0.", 0),
});

export const unassignInvestor = route("POST /api/v1/subscriptions/unassign", {
  scope: "subscriptions:write",
  summary: "Unassign an Investor from its Master",
  description:
    "Settles pending fees and begins the exit. Refused while the Master has open positions, or queued until it is flat (`on_blocked=queue`). PAUSED means in progress: poll the subscription until it is CANCELLED. Parameters come from the query; a JSON body may have `external_id` and `metadata`, anything else in it is ignored.",
  returns: "The subscription as the exit has left it, and what leaves the Master.",
  query: { master_login: masterLogin, investor_login: investorLogin, ...queueQuery },
  body: operationLabelFields,
  hasOptionalBody: true,
  reply: Unassignment,
  refusals: [
    "master_not_found",
    "investor_not_found",
    "subscription_not_found",
    "subscription_not_active",
    "exit_in_progress",
    "master_open_positions",
    "allocation_in_progress",
    "investor_deficit",
    "account_busy",
    "safety_stop",
    "platform_unavailable",
    "cancelled",
    "expired",
  ],
  accepted: {
    returns: "The unassign waits until the Master is flat. Nothing has begun.",
    reply: QueuedUnassignment,
  },

  async handle({ subscriptions }, { request }, context) {
    const done = await subscriptions.unassign(request, context);
    return done.queuedUntil === undefined ? Unassignment.of(done) : new Accepted(QueuedUnassignment.of(done));
  },
});

export const previewUnassignment = route("POST /api/v1/subscriptions/unassign/preview", {
  scope: "subscriptions:write",
  changesNothing: true,
  summary: "Preview an unassignment",
  description:
    "Says what `POST /api/v1/subscriptions/unassign` with the same parameters would do now, and everything for which it would be refused. Nothing is executed, locked or recorded. While the Master has open positions, the figures are those of its closed trades.",
  returns: "What the unassignment would do.",
  query: { master_login: masterLogin, investor_login: investorLogin },
  reply: model(
    "UnassignmentPreview",
    "What an unassignment would do now. Figures are null while they cannot be read.",
    {
      ...blockingFields,
      subscription: EndingSubscription,
      payout_enqueued: at(
        "figures",
        shown(
          bool({ description: "Whether an exit transfer would leave the Master.", example: true }),
          (figures: DepartureFigures | undefined) =>
            figures !== undefined && moneyFromProto(figures.effective).minor > 0n,
        ),
      ),
      ...withinOrNull("figures", {
        amount: at(
          "effective",
          shown(
            nullableDecimal({ description: "What would leave the Master: negative, or 0.", example: -250.5 }),
            (leaving: Money | undefined): JsonNumber | null =>
              moneyNumber(moneyToProto(usd(-moneyFromProto(leaving).minor))),
          ),
        ),
        perf_fee_pending: at("pendingFee", nullableDecimalReply("Performance fee that would be collected first.")),
        balance_before: nullableDecimalReply("Balance of the Investor before the fee."),
        available_after_perf_fee: at(
          "availableAfterFee",
          nullableDecimalReply("What is left of it after the fee, without funds under review."),
        ),
      }),
    },
  ),
  refusals: ["master_not_found", "investor_not_found", "subscription_not_found"],

  call: ({ subscriptions }, request, context) => subscriptions.previewUnassign(request, context),
});
