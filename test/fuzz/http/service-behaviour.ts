import fc from "fast-check";
import { DAY_MS } from "#kernel/values/duration.ts";
import { systemClock } from "#kernel/values/clock.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { Refusal, type RefusalExtra, type RefusalStatus } from "#kernel/values/refusal.ts";
import { testDatabase } from "#test/support/database.ts";
import { createIdempotencyStore } from "../../../services/edge/http/idempotency/idempotency-store.ts";
import { PROBLEMS } from "../../../services/edge/problems/problems.ts";
import { logTo, type TestEdge, testEdge } from "../../../services/edge/testing/test-edge.ts";
import { DOCUMENTED_ROUTES } from "../../../services/edge/api/documented-routes.ts";
import type { Route } from "./document.ts";

/** How the services that the edge calls answer: as documented, with a refusal, or with an internal error. */
export type Behaviour =
  | { readonly kind: "good" }
  /** `isDocumented`: with a code that the route has, and the status that belongs to it. */
  | { readonly kind: "refuses"; readonly refusal: Refusal; readonly isDocumented: boolean }
  | { readonly kind: "breaks" };

/** Part of every internal error of a service; it must not reach callers. */
export const SECRET = "s3cret-of-a-service";

const STATUS_OF: Readonly<Record<string, RefusalStatus>> = {
  "404": "not_found",
  "409": "conflict",
  "422": "invalid",
  "502": "rejected",
  "503": "unavailable",
  "504": "unknown_outcome",
};
const STATUSES = [...Object.values(STATUS_OF), "forbidden", "busy", "internal"] as const;
const CODES = [...Object.keys(PROBLEMS), "lock_not_owned", "made_up", ""];

export function anyBehaviour({ problems }: Route): fc.Arbitrary<Behaviour> {
  const known = Object.entries(problems).flatMap(([status, text]) =>
    Array.from(text.matchAll(/^`([a-z_]+)`/gm), ([, code = ""]) => ({ code, status: STATUS_OF[status] })),
  );
  const documented = known.flatMap(({ code, status }) => (status === undefined ? [] : [{ code, status }]));
  const extra = {
    outcome: fc.constantFrom("not_executed" as const, "unknown" as const, undefined),
    retryAfterMs: fc.option(fc.nat(100_000), { nil: undefined }),
  };
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant<Behaviour>({ kind: "good" }) },
    { weight: 1, arbitrary: fc.constant<Behaviour>({ kind: "breaks" }) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom(...documented), fc.record(extra))
        .map(([named, own]) => refusing(named, own, true)),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.record({ code: fc.constantFrom(...CODES), status: fc.constantFrom(...STATUSES) }), fc.record(extra))
        .map(([named, own]) => refusing(named, own, false)),
    },
  );
}

function refusing(
  { code, status }: { readonly code: string; readonly status: RefusalStatus },
  extra: RefusalExtra,
  isDocumented: boolean,
): Behaviour {
  return { kind: "refuses", refusal: new Refusal({ code, status, message: "refused", ...extra }), isDocumented };
}

export type FuzzedEdge = TestEdge & {
  /** Applies to later requests; deletes all idempotency keys. */
  readonly setBehaviour: (behaviour: Behaviour) => Promise<void>;
};

/** The real edge with services that answer as the golden cases do, unless another behaviour is set. */
export async function startEdge(): Promise<FuzzedEdge> {
  const current: Current = { behaviour: { kind: "good" } };
  const answers: Record<string, Record<string, unknown>> = {};
  for (const {
    exchanges: [{ services: own }],
  } of DOCUMENTED_ROUTES) {
    for (const [service, methods] of Object.entries(own)) {
      for (const [name, method] of Object.entries(methods)) {
        (answers[service] ??= {})[name] = behaving(current, method as (...given: unknown[]) => unknown);
      }
    }
  }
  const { pool } = await testDatabase("edge");
  const idempotency = createIdempotencyStore(pool, { now: systemClock, log: logTo([]), keptMs: 30 * DAY_MS });
  const edge = await testEdge({ ...answers, app: { idempotency } });
  return {
    ...edge,
    async setBehaviour(behaviour) {
      current.behaviour = behaviour;
      await execute(pool, sql`delete from idempotency_key`);
    },
  };
}

type Current = { behaviour: Behaviour };

function behaving(current: Current, method: (...given: unknown[]) => unknown) {
  return async (...given: unknown[]): Promise<unknown> => {
    const { behaviour } = current;
    if (behaviour.kind === "refuses") throw behaviour.refusal;
    if (behaviour.kind === "breaks") throw new TypeError(`cannot read ${SECRET}`);
    return await method(...given);
  };
}
