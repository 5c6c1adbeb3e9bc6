import { formatMinor } from "#kernel/values/money.ts";
import { EVENT_TYPES } from "../fields/event-types.ts";
import { model, nullableId, nullableString, setOf, string } from "../fields/field.ts";
import { at, shown } from "../fields/message.ts";
import { idReply, LOGIN, timeReply } from "../fields/reply-fields.ts";

export const eventType = setOf("EventType", "What has happened.", EVENT_TYPES);

export const Event = model("Event", "Something has another state than before.", {
  id: idReply("Id of the event. Ids ascend, and are not dense.", 1_024),
  type: eventType.known("What has happened.", "deposit.executed"),
  occurred_at: timeReply("When the service recorded the state."),
  state: string({
    description: "The state as the route of its subject shows it: an outcome, a status or a state.",
    example: "executed",
  }),
  subject_id: at(
    "subject",
    string({
      description:
        "Id of what has changed: operation of a deposit, withdrawal or queued unassign, subscription, payment of a fee, break or review as in their routes. Of a mirror and an exit an id of its own, the same in all events of it.",
      example: "0198c0de-0000-7000-8000-000000000001",
    }),
  ),
  login: nullableString({
    description: "The account that it is about: of a break or review any account or null, otherwise the Investor.",
    example: "3000003",
    ...LOGIN,
  }),
  master_login: nullableString({
    description: "Trading login of the Master; null without one.",
    example: null,
    ...LOGIN,
  }),
  operation_id: nullableString({
    description: "The operation that it belongs to; null when there is none, or it is not known.",
    example: "0198c0de-0000-7000-8000-000000000001",
  }),
  amount: at(
    "amountMinor",
    shown(
      nullableString({
        description:
          "Amount in USD: as requested of a deposit or withdrawal, what was paid of a fee, the signed change of the Master of a mirror or exit, the money at risk of a break. Null without one.",
        example: "250.50",
        shown: { pattern: "^-?[0-9]+\\.[0-9]{2}$" },
      }),
      (minor: bigint | null) => (minor === null ? null : formatMinor(minor)),
    ),
  ),
  deal_id: nullableId({ description: "Ticket of the deal; null without one.", example: 1_234_567 }),
  reason: nullableString({
    description: "Code of the refusal, name of the check or code of the review; null without one.",
    example: null,
  }),
  key: string({
    description:
      "The same whenever this event is read, also when a restore of the database has given it another id. Use it to leave out what you have processed.",
    example: "funding-77",
  }),
});
