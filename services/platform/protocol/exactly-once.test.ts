import fc from "fast-check";
import { expect, test } from "vitest";
import { LEG_KINDS, type LegKind } from "../domain/leg-kind.ts";
import { type AttemptState, type Leg, type LegEvent, outcomeOf } from "../domain/leg.ts";
import { MAX_ABSENT_ATTEMPTS, MAX_ATTEMPTS, applyEvent } from "../domain/leg-machine.ts";

const kinds = fc.constantFrom(...(Object.keys(LEG_KINDS) as LegKind[]));

/** Every field of every event at random, so that stale, duplicate and contradictory ones are included. */
const attempts = fc.integer({ min: 0, max: 5 });
const tickets = fc.bigInt({ min: 1n, max: 4n });
const anyEvent: fc.Arbitrary<LegEvent> = fc.oneof(
  fc.constant<LegEvent>({ type: "permit_granted" }),
  fc.constant<LegEvent>({ type: "given_up", reason: "expired" }),
  fc.record({ type: fc.constant("applied" as const), attempt: attempts, ticket: tickets }),
  fc.record({ type: fc.constant("refused" as const), attempt: attempts, code: fc.constantFrom(3, 12, 10019) }),
  fc.record({ type: fc.constantFrom("not_sent", "lost", "proven_absent"), attempt: attempts }),
  fc.constant<LegEvent>({ type: "does_not_fit", reason: "amount_differs" }),
  fc.record({ type: fc.constant("decided_applied" as const), ticket: tickets }),
  fc.constant<LegEvent>({ type: "decided_refused" }),
);

type History = { leg: Leg; permits: number[]; outcomes: Map<number, AttemptState> };

function run(kind: LegKind, events: readonly LegEvent[], check: (before: Leg, now: History) => void) {
  const history: History = {
    leg: { kind, attempt: 0, absences: 0, state: "INTENT" },
    permits: [],
    outcomes: new Map(),
  };
  for (const event of events) {
    const before = history.leg;
    const transition = applyEvent(before, event);
    if (transition.kind !== "move") continue;
    history.leg = transition.to;
    if (transition.attempt !== undefined) history.outcomes.set(transition.attempt.number, transition.attempt.state);
    if (transition.attempt?.state === "SENDING") history.permits.push(transition.attempt.number);
    check(before, history);
  }
  return history;
}

test("no order of events grants an attempt two permits, or a permit before the previous attempt is proven to have moved no money", () => {
  fc.assert(
    fc.property(kinds, fc.array(anyEvent, { maxLength: 60 }), (kind, events) => {
      run(kind, events, (before, { leg, permits, outcomes }) => {
        expect(permits).toEqual(permits.map((_, index) => index + 1));
        expect(leg.attempt).toBe(permits.length);
        if (leg.state !== "SENDING") return;
        expect(before.state).toBe("INTENT");
        for (const earlier of permits.slice(0, -1)) {
          expect(["ABSENT", "VOID", "REFUSED"]).toContain(outcomes.get(earlier));
        }
      });
    }),
    { numRuns: 1_000 },
  );
});

const lostPermit = fc.record({
  type: fc.constant("lost_permit_applied" as const),
  attempt: attempts,
  ticket: tickets,
});

test("nothing is ever sent after the leg was applied or refused, and a reported result never changes", () => {
  fc.assert(
    fc.property(kinds, fc.array(fc.oneof(anyEvent, lostPermit), { maxLength: 60 }), (kind, events) => {
      let hasEnded = false;
      let reported: string | undefined;
      run(kind, events, (_, { leg }) => {
        const outcome = outcomeOf(leg);
        if (reported !== undefined) expect(outcome).toBe(reported);
        if (outcome === "APPLIED" || outcome === "REFUSED") reported = outcome;
        if (leg.state === "APPLIED" || leg.state === "REFUSED") hasEnded = true;
        if (hasEnded) expect(["APPLIED", "REFUSED", "REVIEW"]).toContain(leg.state);
      });
    }),
    { numRuns: 1_000 },
  );
});

test("an external leg is sent at most once, and an internal one at most three times, or 31 times after an applied debit", () => {
  fc.assert(
    fc.property(kinds, fc.array(anyEvent, { maxLength: 80 }), (kind, events) => {
      const { outcomes } = run(kind, events, () => {});
      const mayHaveReachedThePlatform = [...outcomes.values()].filter(
        (outcome) => outcome !== "VOID" && outcome !== "REFUSED",
      );
      const { origin, whenExhausted } = LEG_KINDS[kind];
      const internal = whenExhausted === "review" ? MAX_ATTEMPTS : MAX_ABSENT_ATTEMPTS;
      const allowed = origin === "external" ? 1 : internal;
      expect(mayHaveReachedThePlatform.length).toBeLessThanOrEqual(allowed);
    }),
    { numRuns: 1_000 },
  );
});

/** How far a command gets, and when its sender reads the answer. */
type Delivery = { reaches: "never_written" | "lost_before" | "refused" | "applied"; answer: "read" | "lost" | "late" };
const delivery: fc.Arbitrary<Delivery> = fc.record({
  reaches: fc.constantFrom("never_written", "lost_before", "refused", "applied"),
  answer: fc.constantFrom("read", "lost", "late"),
});

test("for any behaviour of the platform and any lost answers, APPLIED means exactly one deal and REFUSED none", () => {
  fc.assert(
    fc.property(kinds, fc.array(delivery, { minLength: 40, maxLength: 40 }), (kind, deliveries) => {
      const state = {
        leg: { kind, attempt: 0, absences: 0, state: "INTENT" } as Leg,
        deals: [] as bigint[],
      };
      for (const next of deliveries) {
        if (state.leg.state !== "INTENT") break;
        for (const event of eventsOf(next, state)) {
          const transition = applyEvent(state.leg, event);
          if (transition.kind === "move") state.leg = transition.to;
        }
      }
      const expected = { APPLIED: 1, REFUSED: 0, REVIEW: 0, INTENT: 0, SENDING: undefined, UNKNOWN: undefined };
      expect(state.deals).toHaveLength(expected[state.leg.state] ?? Number.NaN);
      if (state.leg.state === "APPLIED") expect(state.deals).toEqual([state.leg.ticket]);
    }),
    { numRuns: 1_000 },
  );
});

/** The events of one attempt: the permit, the report of the sender or of the job that finds lost legs, then only evidence. */
function eventsOf({ reaches, answer }: Delivery, state: { leg: Leg; deals: bigint[] }): LegEvent[] {
  const attempt = state.leg.attempt + 1;
  const ticket = BigInt(attempt);
  if (reaches === "applied") state.deals.push(ticket);
  const reported: LegEvent =
    reaches === "never_written"
      ? { type: "not_sent", attempt }
      : reaches === "refused"
        ? { type: "refused", attempt, code: 12 }
        : { type: "applied", attempt, ticket };
  const proof: LegEvent =
    reaches === "applied" ? { type: "applied", attempt, ticket } : { type: "proven_absent", attempt };
  const permit: LegEvent = { type: "permit_granted" };
  const lost: LegEvent = { type: "lost", attempt };
  if (answer === "read" && reaches !== "lost_before") return [permit, reported, lost, proof];
  if (answer === "late" && reaches !== "lost_before") return [permit, lost, reported, proof];
  return [permit, lost, proof];
}
