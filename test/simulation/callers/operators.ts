import { setTimeout as pause } from "node:timers/promises";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import type { CallContext } from "../../../services/kernel/contract/contract.ts";
import { RECOVERY_OWNERS } from "../../../services/platform/protocol/reviews/resume-all.ts";
import type { PlatformProcess } from "../world/platform-process.ts";
import { CALL_MS, type Caller } from "./caller.ts";

const EVERY_MS = 1_500;
const LIMIT = 100;
const OPERATORS = ["ann", "bob"];

/** What the runbook says after a restore: when the history was read, the lost movements are known and the checks have run, two operators resume. */
export async function resumeAfterRewind({
  process,
  network,
  note,
  hasPools,
}: Pick<Caller, "process" | "network" | "note"> & { readonly hasPools: boolean }) {
  for (let round = 1; ; round += 1) {
    await pause(EVERY_MS);
    const listed = await network.call(process, CALL_MS, ({ service }, context) =>
      service.listReviews({ afterId: 0n, limit: LIMIT, state: ReviewState.UNSPECIFIED }, context),
    );
    await network.call(process, CALL_MS, ({ runChecks }) => runChecks());
    if (!hasPools) await network.call(process, CALL_MS, ({ service }, context) => reportAll(service, context));
    const reviews = listed.kind === "answer" ? listed.value.items : [];
    for (const { id } of reviews.filter(({ actions }) => actions.includes("resume"))) {
      for (const actor of OPERATORS) {
        const vote = {
          reviewId: id,
          action: "resume",
          dealId: 0n,
          note: "Nothing is moved twice.",
          actor,
          keyId: `key of ${actor}`,
        };
        const decided = await network.call(
          process,
          CALL_MS,
          ({ service }, context) => service.decideReview(vote, context),
          `${actor}:${id}:${round}`,
        );
        note(() => `${actor} resumes: ${decided.kind} ${decided.kind === "refused" ? decided.refusal.code : ""}`);
      }
    }
  }
}

/** In place of the services that only file movements in histories without pools. */
async function reportAll(service: PlatformProcess["service"], context: CallContext) {
  const { generation } = await service.getPermits({}, context);
  for (const owner of RECOVERY_OWNERS) await service.reportRecovered({ service: owner, generation }, context);
}
