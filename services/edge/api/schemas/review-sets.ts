import { ACTIONS, REASONS } from "#catalogue/reviews.ts";
import { setOf } from "../../fields/field.ts";

export const reviewingService = setOf("ReviewingService", "A service that keeps reviews; its name begins their ids.", {
  platform: "Movements on the trading platform, and its accounts.",
  subscription: "Pools of Masters.",
  fee: "Performance fees.",
});

export const reviewState = setOf("ReviewState", "Status of a review.", {
  open: "No action is proposed.",
  proposed: "An action is proposed, and another owner of an API key has to confirm it.",
  decided: "The action was confirmed and executed.",
});

export const reviewReason = setOf(
  "ReviewReason",
  "Why operators have to decide. New reasons may be added.",
  meaningsOf(REASONS),
);

export const reviewAction = setOf(
  "ReviewAction",
  "A decision about a review. New actions may be added.",
  meaningsOf(ACTIONS),
);

function meaningsOf<Name extends string>(entries: Readonly<Record<Name, { readonly meaning: string }>>) {
  const meanings = Object.keys(entries).map((name) => [name, entries[name as Name].meaning]);
  return Object.fromEntries(meanings) as Readonly<Record<Name, string>>;
}
