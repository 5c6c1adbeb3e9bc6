import { Type } from "typebox";
import { bool, model, nullableInteger } from "../../fields/field.ts";
import { at } from "../../fields/message.ts";
import { moneyReply } from "../../fields/reply-fields.ts";
import { investorLogin, masterLogin } from "../schemas/request-fields.ts";
import { EndingSubscription } from "../schemas/subscription.ts";
import { operationLabelFields } from "../schemas/labels.ts";
import { queuedStatus, queueQuery } from "../schemas/queue.ts";
import { Accepted, route } from "../../http/route.ts";

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

export const unassign = route({
  operationId: "unassignInvestor",
  method: "POST",
  url: "/api/v1/subscriptions/unassign",
  scope: "subscriptions:write",
  class: "money",
  tag: "Subscriptions",
  summary: "Unassign an Investor from its Master",
  description:
    "Settles pending fees and begins the exit. Refused while the Master has open positions, or queued until it is flat (`on_blocked=queue`). PAUSED means in progress: poll the subscription until it is CANCELLED. Parameters come from the query; a JSON body may have `external_id` and `metadata`, anything else in it is ignored.",
  returns: "The subscription as the exit has left it, and what leaves the Master.",
  query: Type.Object({ master_login: masterLogin, investor_login: investorLogin, ...queueQuery }),
  body: Type.Object(operationLabelFields),
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
