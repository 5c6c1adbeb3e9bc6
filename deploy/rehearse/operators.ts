import { itemsOf, type JsonObject, objectOf, textOf } from "../demo/exact-json.ts";
import { type Call, problemOf } from "../demo/http.ts";
import { describe, type Outcome } from "../demo/outcome.ts";
import { DemoFailure, poll } from "../demo/wait.ts";
import { type Access, read, send } from "./clients.ts";

const REVIEWS = "/api/v1/ops/reviews";
const RESUMED = { what: "permits that are granted again", withinMs: 120_000, everyMs: 500 };

export async function openReviews(access: Access): Promise<readonly JsonObject[]> {
  const { body } = await read(access, REVIEWS);
  return itemsOf(objectOf({ body }, "body")["items"] ?? []);
}

/**
 * Four eyes: the first operator proposes, the second approves. An approval that is refused is sent again, until the quiet period has passed
 * and the checks hold. Returns the different refusals.
 */
export async function resumePermits(first: Access, second: Access, review: JsonObject): Promise<readonly string[]> {
  const call: Call = {
    method: "POST",
    path: REVIEWS,
    body: { id: textOf(review, "id"), action: "resume", note: "The lost time was compared with the CRM." },
  };
  const proposal = await send(first, call);
  if (proposal.kind !== "done") throw new DemoFailure(`the proposal was refused: ${textOfOutcome(proposal)}`);
  const refusals = new Set<string>();
  await poll(
    RESUMED,
    async () => {
      const approval = await send(second, call);
      if (approval.kind === "done") return approval;
      refusals.add(textOfOutcome(approval));
      return undefined;
    },
    () => [...refusals].at(-1) ?? "nothing",
  );
  return [...refusals];
}

export function textOfOutcome(outcome: Outcome): string {
  if (outcome.kind === "done") return "200";
  if (outcome.kind !== "refused") return outcome.why;
  const { outcome: executed } = problemOf(outcome.answer);
  return `${describe(outcome.answer)} (${typeof executed === "string" ? executed : "no outcome"})`;
}
