import { PermitState } from "#proto/pamm/platform/v1/platform.ts";
import { byCode, integer, list, model, modelOrNull, named, setOf, string } from "../../fields/field.ts";
import { nullableTimeReply } from "../../fields/reply-fields.ts";
import { route } from "../../http/route.ts";

const stateSet = setOf("PermitState", "Whether money commands are sent to the trading platform.", {
  granted: "They are sent.",
  reading:
    "The history is being read after a restart of the database; money commands are refused for seconds, and are sent by themselves then.",
  stopped:
    "The database is behind the trading platform: money commands are refused with `safety_stop` until two operators decide `resume`.",
});

const blockSet = setOf("ResumeBlockCode", "What keeps operators from `resume`.", {
  history_not_read: "The history has not been read completely.",
  quiet_period: "The trading platform may still execute commands that the database has lost.",
  owner_not_recovered: "A service has not recorded yet what was executed in the lost time.",
  review_open: "A review of a deal that was found since the stop is not decided.",
  check_not_complete: "A check has not compared everything since the stop.",
  check_has_breaks: "A check has found differences.",
});

const Block = model("ResumeBlock", "A reason why `resume` would be refused now.", {
  code: blockSet.known("What it is.", "quiet_period"),
  detail: string({
    description: "The reason in words.",
    example: "The check deal_matching has not completed a run since the stop.",
  }),
});

const Imports = model("Imports", "What of the lost time was imported. Each number is at most 10,000.", {
  movements: integer({ description: "Deposits and withdrawals that the database had lost.", example: 12 }),
  open_movements: integer({
    description: "Those of them that are no operation yet, or never will be: these have a review.",
    example: 1,
  }),
  unclaimed_fees: integer({
    description: "Fees that were imported, and that are no fee payments yet.",
    example: 0,
  }),
  accounts_to_read: integer({ description: "Accounts whose deals are not all in their logs yet.", example: 0 }),
});

export const getPermits = route("GET /api/v1/ops/permits", {
  scope: "ops",
  summary: "Get whether money commands are sent",
  description:
    "Whether commands are sent to the trading platform. After a restore to an older time they are stopped: then since when, what of the lost time was imported, and why `resume` would be refused now, every reason at once.",
  returns: "The state of the permits.",
  reply: model("Permits", "Whether money commands are sent to the trading platform.", {
    state: named(stateSet.of("Whether they are sent.", "stopped"), byCode(stateSet.values, PermitState)),
    stopped_at: nullableTimeReply("Since when they are stopped; null while they are not."),
    resumable_from: nullableTimeReply("End of the quiet period, before which `resume` is refused; null as above."),
    blocking: list(Block, { description: "Why `resume` would be refused now; empty when it would not." }),
    imports: modelOrNull(Imports, "What of the lost time was imported; null while nothing is stopped."),
  }),

  call: ({ platform }, _request, context) => platform.getPermits({}, context),
});
