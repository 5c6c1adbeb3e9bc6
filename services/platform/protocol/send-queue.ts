import { batchQueue } from "#kernel/batches/batch-queue.ts";
import { databaseUnavailable } from "#kernel/contract/refusals.ts";
import { isTransient, violatedConstraint } from "#kernel/postgres/failure.ts";
import { tracePlace } from "#kernel/tracing/span.ts";
import type { SendingDeps } from "../deps.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { answerQueue } from "./answer-queue.ts";
import { type Asked, commitPermits, sendPermitted } from "./commit-permits.ts";
import { legOf, type PermitRequest, permitRequests } from "./permit-requests.ts";
import { type SendPace, sendPace } from "./send-pace.ts";
import type { SendQueue, Turn } from "./sending.ts";
import { acquireSessions, noSessions, type Sessions } from "./sessions.ts";

/** Permits in one commit: more would only lengthen it, and a permit expires soon. */
const MAX_PERMITS = 64;
/** Bounds memory and wait while the platform is slow; further requests are refused as busy. */
const MAX_WAITING = 2_000;
/**
 * How long a batch waits for a session: a busy platform slows callers down before a permit is granted. While the platform cannot
 * be reached each request waits this long once, not once for every batch before it.
 */
const SESSION_WAIT_MS = 1_000;
const OVER: Turn = { decision: { kind: "over" }, sent: undefined };
/** Constraints with which the database refuses a permit. */
const WITHOUT_PERMIT = new Set(["attempt_sender", "attempt_permitted"]);

/**
 * The one way to send. What waits while a batch commits is the next batch: it acquires sessions, records its orders and permits
 * in one commit, and sends, while the next batch begins. The answers are recorded together as they arrive.
 */
export function sendQueue(deps: SendingDeps): SendQueue {
  const sending = { pace: sendPace(), underWay: new Set<Promise<unknown>>() };
  const means = { ...sending, recordAnswer: answerQueue(deps, sending) };
  const queue = batchQueue<Waiting, Turn, Sessions>({
    name: "grant permits",
    maxItems: MAX_PERMITS,
    maxWaiting: MAX_WAITING,
    keyOf: ({ request }) => keyOf(request),
    prepare: (waiting) => acquireFor(deps, waiting, means.pace),
    async run(waiting, sessions) {
      using stack = new DisposableStack();
      if (sessions !== undefined) stack.use(sessions);
      const requests = waiting.map(({ request }) => request);
      const decided = await commitPermits(deps, sessions, (tx, holders) =>
        permitRequests(tx, deps.settings.server, requests, holders),
      ).catch(asDatabaseUnavailable);
      return sendPermitted(deps, decided, waiting, { sessions, ...means }).map((turn) => turn ?? OVER);
    },
    // A failure of the database may be the fault of no member, and is repeated by each caller.
    maySplit: (error) => !isTransient(error),
  });
  return {
    request: (request, byMs) => queue.add({ request, sinceMs: performance.now(), place: tracePlace() }, byMs),
    async drain() {
      await Promise.all(means.underWay);
    },
  };
}

type Waiting = Asked & { readonly sinceMs: number };

/** Requests that occupy the same login are never in one batch. */
function keyOf(request: PermitRequest): string {
  const { login, kind } = legOf(request);
  if (LEG_KINDS[kind].exclusive) return `login ${login}`;
  return request.kind === "order" ? `key ${request.order.key}` : `leg ${request.leg.number}`;
}

/** An enqueued order is sent if a session is free, and waits for none. */
async function acquireFor(deps: SendingDeps, waiting: readonly Waiting[], pace: SendPace): Promise<Sessions> {
  if (deps.gate.read() !== "open") return noSessions();
  const patient = waiting.filter(({ request }) => request.kind === "leg" || !request.order.isEnqueued);
  const sinceMs = Math.min(...patient.map((each) => each.sinceMs));
  const waitedMs = deps.mt5.status().reachable ? 0 : performance.now() - sinceMs;
  const waitMs = patient.length === 0 ? undefined : Math.max(0, SESSION_WAIT_MS - waitedMs);
  return await acquireSessions(deps, { sends: waiting.length, sendsOfASession: pace.sendsOfASession(), waitMs });
}

/** The database was restored or replaced, or permits were stopped: the next heartbeat ends this process, or learns of it. */
function asDatabaseUnavailable(error: unknown): never {
  throw WITHOUT_PERMIT.has(violatedConstraint(error) ?? "") ? databaseUnavailable() : error;
}
