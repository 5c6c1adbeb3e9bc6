// @vitest-environment happy-dom
import { render } from "preact";
import { afterEach, expect, test } from "vitest";
import type { Models } from "../../../client/index.ts";
import { session } from "../../session/session.ts";
import { Vote } from "./vote.tsx";

const REVIEW = {
  id: "platform-17",
  reason: "stopped",
  state: "proposed",
  amount: null,
  deal_id: null,
  actions: ["resume"],
};

afterEach(() => render(null, document.body));

function buttonsFor(own: string, proposedBy: string): readonly (string | null)[] {
  session.value = { key: { client: own } } as unknown as typeof session.value;
  const decision = { action: "resume", proposed_by: proposedBy, deal_id: null };
  const review = { ...REVIEW, decision } as unknown as Models["Review"];
  render(<Vote review={review} changed={() => undefined} />, document.body);
  return [...document.querySelectorAll("button")].map(({ textContent }) => textContent);
}

test("a proposal is approved by another owner, and owners are compared as the services compare them", () => {
  expect(buttonsFor("AnnLee", "Ann Lee")).toEqual(["Approve", "Withdraw the proposal"]);
  expect(buttonsFor("ANN\u00a0 LEE\u200b", "Ann Lee")).toEqual(["Withdraw the proposal"]);
});
