import fc from "fast-check";
import { expect, test } from "vitest";
import { OPERATION_KINDS, type OperationKind } from "../domain/operation-kind.ts";
import type { AttemptState, Operation, OperationEvent } from "../domain/operation.ts";
import { MAX_ABSENT_ATTEMPTS, applyEvent } from "../domain/operation-machine.ts";

const kinds = fc.constantFrom(...(Object.keys(OPERATION_KINDS) as OperationKind[]));

/** Every field of every event at random, so that stale, duplicate and contradictory ones are included. */
const attempts = fc.integer({ min: 0, max: 5 });
const tickets = fc.bigInt({ min: 1n, max: 4n });
const anyEvent: fc.Arbitrary<OperationEvent> = fc.oneof(
  fc.constant<OperationEvent>({ type: "permit_granted" }),
  fc.constant<OperationEvent>({ type: "given_up", reason: "expired" }),
  fc.record({ type: fc.constant("applied" as const), attempt: attempts, ticket: tickets }),
  fc.record({ type: fc.constant("refused" as const), attempt: attempts, code: fc.constantFrom(3, 12, 10019) }),
  fc.record({ type: fc.constantFrom("not_sent", "lost", "proven_absent"), attempt: attempts }),
  fc.constant<OperationEvent>({ type: "does_not_fit", reason: "amount_differs" }),
  fc.constant<OperationEvent>({ type: "deal_gone" }),
  fc.record({ type: fc.constant("decided_applied" as const), ticket: tickets }),
  fc.constant<OperationEvent>({ type: "decided_refused" }),
);

type History = { operation: Operation; permits: number[]; outcomes: Map<number, AttemptState> };

function run(kind: OperationKind, events: readonly OperationEvent[], check: (before: Operation, now: History) => void) {
  const history: History = {
    operation: { kind, attempt: 0, absences: 0, state: "INTENT" },
    permits: [],
    outcomes: new Map(),
  };
  for (const event of events) {
    const before = history.operation;
    const taken = applyEvent(before, event);
    if (taken.kind !== "move") continue;
    history.operation = taken.to;
    if (taken.attempt !== undefined) history.outcomes.set(taken.attempt.number, taken.attempt.state);
    if (taken.attempt?.state === "SENDING") history.permits.push(taken.attempt.number);
    check(before, history);
  }
  return history;
}

test("no order of events grants an attempt two permits, or a permit before the previous attempt is proven to have moved no money", () => {
  fc.assert(
    fc.property(kinds, fc.array(anyEvent, { maxLength: 60 }), (kind, events) => {
      run(kind, events, (before, { operation, permits, outcomes }) => {
        expect(permits).toEqual(permits.map((_, index) => index + 1));
        expect(operation.attempt).toBe(permits.length);
        if (operation.state !== "SENDING") return;
        expect(before.state).toBe("INTENT");
        for (const earlier of permits.slice(0, -1)) {
          expect(["ABSENT", "VOID", "REFUSED"]).toContain(outcomes.get(earlier));
        }
      });
    }),
    { numRuns: 1_000 },
  );
});

test("nothing is ever sent after the operation was applied or refused", () => {
  fc.assert(
    fc.property(kinds, fc.array(anyEvent, { maxLength: 60 }), (kind, events) => {
      let hasEnded = false;
      run(kind, events, (_, { operation }) => {
        if (operation.state === "APPLIED" || operation.state === "REFUSED") hasEnded = true;
        if (hasEnded) expect(["APPLIED", "REFUSED", "REVIEW"]).toContain(operation.state);
      });
    }),
    { numRuns: 1_000 },
  );
});

test("an external operation is sent at most once, and an internal one at most three times", () => {
  fc.assert(
    fc.property(kinds, fc.array(anyEvent, { maxLength: 80 }), (kind, events) => {
      const { outcomes } = run(kind, events, () => {});
      const mayHaveReachedThePlatform = [...outcomes.values()].filter(
        (outcome) => outcome !== "VOID" && outcome !== "REFUSED",
      );
      const allowed = OPERATION_KINDS[kind].origin === "external" ? 1 : MAX_ABSENT_ATTEMPTS;
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
      const world = {
        operation: { kind, attempt: 0, absences: 0, state: "INTENT" } as Operation,
        deals: [] as bigint[],
      };
      for (const next of deliveries) {
        if (world.operation.state !== "INTENT") break;
        for (const event of play(next, world)) {
          const taken = applyEvent(world.operation, event);
          if (taken.kind === "move") world.operation = taken.to;
        }
      }
      const expected = { APPLIED: 1, REFUSED: 0, REVIEW: 0, INTENT: 0, SENDING: undefined, UNKNOWN: undefined };
      expect(world.deals).toHaveLength(expected[world.operation.state] ?? Number.NaN);
      if (world.operation.state === "APPLIED") expect(world.deals).toEqual([world.operation.ticket]);
    }),
    { numRuns: 1_000 },
  );
});

/** The events of one attempt: permit, the sender's report (or `lost` from the sweeper), and then only evidence. */
function play({ reaches, answer }: Delivery, world: { operation: Operation; deals: bigint[] }): OperationEvent[] {
  const attempt = world.operation.attempt + 1;
  const ticket = BigInt(attempt);
  if (reaches === "applied") world.deals.push(ticket);
  const reported: OperationEvent =
    reaches === "never_written"
      ? { type: "not_sent", attempt }
      : reaches === "refused"
        ? { type: "refused", attempt, code: 12 }
        : { type: "applied", attempt, ticket };
  const proof: OperationEvent =
    reaches === "applied" ? { type: "applied", attempt, ticket } : { type: "proven_absent", attempt };
  const permit: OperationEvent = { type: "permit_granted" };
  const lost: OperationEvent = { type: "lost", attempt };
  if (answer === "read" && reaches !== "lost_before") return [permit, reported, lost, proof];
  if (answer === "late" && reaches !== "lost_before") return [permit, lost, reported, proof];
  return [permit, lost, proof];
}
