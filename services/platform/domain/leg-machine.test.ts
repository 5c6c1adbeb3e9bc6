import { expect, test } from "vitest";
import { type LegKind } from "./leg-kind.ts";
import type { Leg, LegEvent, Transition } from "./leg.ts";
import { applyEvent } from "./leg-machine.ts";

const states = (kind: LegKind, attempt = 2, absences = 0): Record<string, Leg> => {
  const kept = { kind, attempt, absences };
  return {
    INTENT: { ...kept, state: "INTENT" },
    SENDING: { ...kept, state: "SENDING" },
    UNKNOWN: { ...kept, state: "UNKNOWN" },
    APPLIED: { ...kept, state: "APPLIED", ticket: 7n },
    REFUSED: { ...kept, state: "REFUSED", reason: "absent" },
    "REVIEW<UNKNOWN": { ...kept, state: "REVIEW", reason: "candidate_deal", cameFrom: "UNKNOWN" },
    "REVIEW<INTENT": { ...kept, state: "REVIEW", reason: "deal_after_absence", cameFrom: "INTENT" },
    "REVIEW<APPLIED": { ...kept, state: "REVIEW", reason: "amount_differs", cameFrom: "APPLIED" },
    "REVIEW<REFUSED": { ...kept, state: "REVIEW", reason: "deal_after_refusal", cameFrom: "REFUSED" },
  };
};

const events: Record<string, LegEvent> = {
  permit: { type: "permit_granted" },
  "given up": { type: "given_up", reason: "expired" },
  applied: { type: "applied", attempt: 2, ticket: 7n },
  "other deal": { type: "applied", attempt: 1, ticket: 6n },
  "deal of 3": { type: "applied", attempt: 3, ticket: 5n },
  "later deal": { type: "lost_permit_applied", attempt: 3, ticket: 5n },
  "earlier deal": { type: "lost_permit_applied", attempt: 2, ticket: 5n },
  refused: { type: "refused", attempt: 2, code: 10019 },
  throttled: { type: "refused", attempt: 2, code: 12 },
  "refused 1": { type: "refused", attempt: 1, code: 3 },
  "not sent": { type: "not_sent", attempt: 2 },
  "not sent 1": { type: "not_sent", attempt: 1 },
  lost: { type: "lost", attempt: 2 },
  "lost 1": { type: "lost", attempt: 1 },
  absent: { type: "proven_absent", attempt: 2 },
  "absent 1": { type: "proven_absent", attempt: 1 },
  "no fit": { type: "does_not_fit", reason: "amount_differs" },
  "decided yes": { type: "decided_applied", ticket: 8n },
  "decided no": { type: "decided_refused" },
};

/** For example "INTENT 2=VOID": the leg's new state, and the attempt's new state if it has one. */
function describe(transition: Transition): string {
  if (transition.kind !== "move") return transition.kind === "stay" ? "-" : `unmatched ${transition.ticket}`;
  const attempt = transition.attempt === undefined ? "" : ` ${transition.attempt.number}=${transition.attempt.state}`;
  return `${transition.to.state}${attempt}`;
}

function tableOf(legs: Record<string, Leg>): string {
  return Object.entries(legs)
    .flatMap(([state, leg]) => [
      state,
      ...Object.entries(events).map(([name, event]) => `  ${name}: ${describe(applyEvent(leg, event))}`),
    ])
    .filter((line) => !line.endsWith(": -"))
    .join("\n");
}

/** Every pair that is not listed changes nothing. */
const DEPOSIT = `INTENT
  permit: SENDING 3=SENDING
  given up: REFUSED
  applied: REVIEW
  other deal: REVIEW
  deal of 3: REVIEW
  later deal: APPLIED
  no fit: REVIEW
SENDING
  applied: APPLIED 2=APPLIED
  other deal: unmatched 6
  deal of 3: REVIEW 2=ABSENT
  later deal: APPLIED 2=ABSENT
  refused: REFUSED 2=REFUSED
  throttled: REFUSED 2=REFUSED
  not sent: INTENT 2=VOID
  lost: UNKNOWN 2=UNKNOWN
UNKNOWN
  applied: APPLIED 2=APPLIED
  other deal: unmatched 6
  deal of 3: REVIEW 2=ABSENT
  later deal: APPLIED 2=ABSENT
  refused: REFUSED 2=REFUSED
  throttled: REFUSED 2=REFUSED
  not sent: INTENT 2=VOID
  absent: REFUSED 2=ABSENT
  no fit: REVIEW
  decided yes: APPLIED 2=APPLIED
  decided no: REFUSED 2=ABSENT
APPLIED
  other deal: unmatched 6
  deal of 3: unmatched 5
  no fit: REVIEW
REFUSED
  applied: REVIEW
  other deal: REVIEW
  deal of 3: REVIEW
  no fit: REVIEW
REVIEW<UNKNOWN
  decided yes: APPLIED 2=APPLIED
  decided no: REFUSED 2=ABSENT
REVIEW<INTENT
  decided no: REFUSED
REVIEW<APPLIED
  decided yes: APPLIED
REVIEW<REFUSED
  decided no: REFUSED`;

test("every state of an external leg handles every event as the table states", () => {
  expect(tableOf(states("deposit"))).toBe(DEPOSIT);
  expect(tableOf(states("withdrawal"))).toBe(DEPOSIT);
});

test("an internal leg differs in two transitions: after an absence and after 'too frequent' it may be attempted again", () => {
  const internal = DEPOSIT.replaceAll("throttled: REFUSED 2=REFUSED", "throttled: INTENT 2=REFUSED").replace(
    "absent: REFUSED 2=ABSENT",
    "absent: INTENT 2=ABSENT",
  );
  for (const kind of ["fee_debit", "fee_credit", "result", "mirror", "exit", "reversal"] as const) {
    expect(tableOf(states(kind))).toBe(internal);
  }
});

test("the third absence ends the key of an internal leg, and a fee credit whose debit was applied is attempted 31 times before its manual review", () => {
  const absent: LegEvent = { type: "proven_absent", attempt: 3 };
  const unknown = (kind: LegKind): Leg => ({ kind, attempt: 3, absences: 2, state: "UNKNOWN" });
  const last: Leg = { kind: "fee_credit", attempt: 31, absences: 30, state: "UNKNOWN" };

  expect(applyEvent(unknown("mirror"), absent)).toEqual({
    kind: "move",
    to: { kind: "mirror", attempt: 3, absences: 3, state: "REFUSED", reason: "absent" },
    attempt: { number: 3, state: "ABSENT" },
    writes: ["outcome"],
  });
  expect(applyEvent(unknown("fee_credit"), absent)).toEqual({
    kind: "move",
    to: { kind: "fee_credit", attempt: 3, absences: 3, state: "INTENT" },
    attempt: { number: 3, state: "ABSENT" },
    writes: ["outcome", "next_scan"],
  });
  expect(applyEvent(last, { type: "proven_absent", attempt: 31 })).toEqual({
    kind: "move",
    to: {
      kind: "fee_credit",
      attempt: 31,
      absences: 31,
      state: "REVIEW",
      reason: "attempts_exhausted",
      cameFrom: "INTENT",
    },
    attempt: { number: 31, state: "ABSENT" },
    writes: ["outcome", "finding"],
  });
});

test("a leg whose later permit was lost is applied as that attempt, and the recorded one has moved no money", () => {
  const unknown: Leg = { kind: "mirror", attempt: 1, absences: 0, state: "UNKNOWN" };

  expect(applyEvent(unknown, { type: "lost_permit_applied", attempt: 3, ticket: 9n })).toEqual({
    kind: "move",
    to: { kind: "mirror", attempt: 3, absences: 0, state: "APPLIED", ticket: 9n },
    attempt: { number: 1, state: "ABSENT" },
    writes: ["outcome", "deal", "entry"],
  });
});

test("a leg ends when its reference has no number for a further attempt", () => {
  const last = (state: "INTENT" | "SENDING"): Leg => ({ kind: "mirror", attempt: 31, absences: 0, state });
  const ended = { kind: "mirror", attempt: 31, absences: 0, state: "REFUSED" };

  expect(applyEvent(last("SENDING"), { type: "not_sent", attempt: 31 })).toMatchObject({
    to: { ...ended, reason: "expired" },
    attempt: { state: "VOID" },
  });
  expect(applyEvent(last("SENDING"), { type: "refused", attempt: 31, code: 12 })).toMatchObject({
    to: { ...ended, reason: "platform_rejected", platformCode: 12 },
  });
  expect(applyEvent(last("INTENT"), { type: "permit_granted" })).toEqual({
    kind: "move",
    to: { ...ended, reason: "expired" },
    writes: [],
  });
});

test("a deal of an attempt that the database does not have shows that the current one has ended: no further attempt is made", () => {
  const behind = (state: "SENDING" | "UNKNOWN"): Leg => ({ kind: "mirror", attempt: 1, absences: 0, state });
  for (const state of ["SENDING", "UNKNOWN"] as const) {
    expect(applyEvent(behind(state), { type: "applied", attempt: 2, ticket: 7n })).toEqual({
      kind: "move",
      to: {
        kind: "mirror",
        attempt: 1,
        absences: 0,
        state: "REVIEW",
        reason: "deal_after_absence",
        cameFrom: "INTENT",
      },
      attempt: { number: 1, state: "ABSENT" },
      writes: ["outcome", "finding"],
    });
  }
});

test("a refusal of the platform keeps its code, and insufficient funds have their own reason", () => {
  const sending: Leg = { kind: "withdrawal", attempt: 1, absences: 0, state: "SENDING" };
  expect(applyEvent(sending, { type: "refused", attempt: 1, code: 10019 })).toMatchObject({
    to: { reason: "insufficient_funds", platformCode: 10019 },
  });
  expect(applyEvent(sending, { type: "refused", attempt: 1, code: 13 })).toMatchObject({
    to: { reason: "platform_rejected", platformCode: 13 },
  });
});
