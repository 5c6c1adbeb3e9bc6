import type { Models } from "../../../client/index.ts";

export type Attempt = Models["Attempt"];
type Leg = Models["Leg"];

type AttemptsOfLegs = {
  /** In the order of the legs. */
  readonly ofLegs: readonly (readonly Attempt[])[];
  /** Of movements that the operation does not show, such as the reversal of a debit. */
  readonly others: readonly (readonly Attempt[])[];
};

/** All attempts of a leg have its transfer, account and kind; the leg shows the reference of its last one. */
export function groupAttempts(legs: readonly Leg[], attempts: readonly Attempt[]): AttemptsOfLegs {
  const keyOf = ({ mt5_transfer_id: id, login, kind }: Attempt): string => `${id} ${login} ${kind}`;
  const groups = [...Map.groupBy(attempts, keyOf).values()];
  const ofLegs = legs.map((leg) => groups.find((all) => all.some((one) => one.reference === leg.reference)) ?? []);
  return { ofLegs, others: groups.filter((all) => !ofLegs.includes(all)) };
}

/** A sentence about what came back: the return code, and why the answer proves nothing. */
export function answerOf({ answer_code: code, answer, state, deal_id: ticket }: Attempt): string {
  const reason = answer === null ? "" : answer.replaceAll("_", " ");
  if (state === "not_sent") return `Nothing was sent${reason === "" ? "" : `: ${reason}`}.`;
  if (code !== null) return `Return code ${code}${reason === "" ? "" : `, which proves nothing: ${reason}`}.`;
  if (reason !== "") return `No answer: ${reason}.${ticket === null ? "" : " The deal was found in the history."}`;
  return "Nothing yet.";
}
