import { bool, model, setOf, string } from "../../fields/field.ts";
import { at, shown } from "../../fields/message.ts";
import { rateText } from "../../wire/rate.ts";
import { idReply, investorLoginReply, timeReply } from "../../fields/reply-fields.ts";

const rateReply = (description: string, example: string) =>
  at("ratePpm", shown(string({ description, example, shown: { pattern: "^[01]\\.[0-9]{6}$" } }), rateText));
const enabledReply = bool({ description: "Whether fees are collected.", example: true });

export const FeeConfigurationReply = model("FeeConfiguration", "A version of an Investor's performance fee.", {
  investor_id: idReply("Internal id of the Investor.", 8),
  investor_login: investorLoginReply(),
  rate: rateReply("Performance fee, 0 to 1, six decimals; 0.300000 means 30 %.", "0.300000"),
  enabled: enabledReply,
  effective_since: timeReply("Start of validity of this version."),
  created_at: timeReply("When the configuration was created."),
  updated_at: timeReply("When the configuration was last changed."),
});

export const feeVersionState = setOf("FeeVersionState", "State of a fee version, in the sequence of its life.", {
  scheduled: "It begins later.",
  in_force: "It applies now.",
  past: "A later version has followed it.",
  replaced: "A newer version with the same or an earlier start has taken its place.",
  cancelled: "It never began.",
});

export const FeeVersionReply = model("FeeVersion", "A version of the fee configuration, with its state.", {
  id: idReply("Id of the version; the cursor of the listing.", 17),
  rate: rateReply("Performance fee, 0 to 1, six decimals.", "0.250000"),
  enabled: enabledReply,
  effective_since: timeReply("Start of validity."),
  created_at: timeReply("When the version was made."),
  state: feeVersionState.known("State of the version.", "scheduled"),
});
