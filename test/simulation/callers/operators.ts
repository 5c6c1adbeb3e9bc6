import { setTimeout as pause } from "node:timers/promises";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import type { CallContext } from "../../../services/kernel/contract/contract.ts";
import { RECOVERY_OWNERS } from "../../../services/platform/protocol/reviews/resume-all.ts";
import type { PlatformProcess } from "../world/platform-process.ts";
import type { Network } from "../world/network.ts";
import { CALL_MS, type Caller, describeRefusal } from "./caller.ts";

const EVERY_MS = 1_500;
const LIMIT = 100;
const OPERATORS = ["ann", "bob"];

type Operated = Pick<Caller, "process" | "network" | "note"> & {
  /** Undefined in histories without pools. */
  readonly subscriptions: Caller["subscriptions"] | undefined;
};

/**
 * What the runbook says after a restore: when the history was read, the lost movements are known and the checks have run, two operators resume. They
 * acknowledge results of the lost time that no posting explains.
 */
export async function resumeAfterRewind({ process, network, subscriptions, note }: Operated) {
  for (let round = 1; ; round += 1) {
    await pause(EVERY_MS);
    await network.call(process, CALL_MS, ({ runChecks }) => runChecks());
    if (subscriptions === undefined) {
      await network.call(process, CALL_MS, ({ service }, own) => reportAll(service, own));
    }
    await voteOn(process, network, { action: "resume", round, note });
    if (subscriptions !== undefined) {
      await voteOn(process, subscriptions, { action: "acknowledge", reason: "lost_results", round, note });
    }
  }
}

type Votes = {
  readonly action: string;
  /** Only of reviews for this reason. */
  readonly reason?: string;
  readonly round: number;
  readonly note: Caller["note"];
};
type Reviewing = Pick<PlatformProcess, "process"> & {
  readonly service: Pick<PlatformProcess["service"], "listReviews" | "decideReview">;
};

async function voteOn(
  process: Caller["process"],
  network: Network<Reviewing>,
  { action, reason, round, note }: Votes,
): Promise<void> {
  const listed = await network.call(process, CALL_MS, ({ service }, context) =>
    service.listReviews({ afterId: 0n, limit: LIMIT, state: ReviewState.UNSPECIFIED }, context),
  );
  const reviews = listed.kind === "answer" ? listed.value.items : [];
  const wanted = reviews.filter((each) => each.actions.includes(action) && each.reason === (reason ?? each.reason));
  for (const { id } of wanted) {
    for (const actor of OPERATORS) {
      const vote = {
        reviewId: id,
        action,
        dealId: 0n,
        note: "Nothing is moved twice.",
        actor,
        keyId: `key of ${actor}`,
      };
      const decided = await network.call(
        process,
        CALL_MS,
        ({ service }, context) => service.decideReview(vote, context),
        `${action}:${actor}:${id}:${round}`,
      );
      note(() => `${actor} decides ${action}: ${describeRefusal(decided)}`);
    }
  }
}

/** In place of the services that only file movements in histories without pools. */
async function reportAll(service: PlatformProcess["service"], context: CallContext) {
  const { generation } = await service.getPermits({}, context);
  for (const owner of RECOVERY_OWNERS) await service.reportRecovered({ service: owner, generation }, context);
}
