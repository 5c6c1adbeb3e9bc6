import { setTimeout as pause } from "node:timers/promises";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { CALL_MS, type Caller } from "./caller.ts";

const EVERY_MS = 1_500;
const LIMIT = 100;
const OPERATORS = ["ann", "bob"];

/** What the runbook says after a restore: when the history was read, the lost movements are known and the checks have run, two operators resume. */
export async function resumeAfterRewind({ process, network, note }: Pick<Caller, "process" | "network" | "note">) {
  for (let round = 1; ; round += 1) {
    await pause(EVERY_MS);
    const listed = await network.call(process, CALL_MS, ({ service }, context) =>
      service.listReviews({ afterId: 0n, limit: LIMIT, state: ReviewState.UNSPECIFIED }, context),
    );
    await network.call(process, CALL_MS, ({ runChecks }) => runChecks());
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
