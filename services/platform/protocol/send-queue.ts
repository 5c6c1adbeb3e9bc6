import { batchQueue } from "#kernel/batch-queue.ts";
import { databaseUnavailable } from "#kernel/contract/refusals.ts";
import { isTransient, violatedConstraint } from "#kernel/postgres/failure.ts";
import { CommitUnknown, inTransaction } from "#kernel/postgres/transaction.ts";
import { type TracePlace, tracePlace } from "#kernel/tracing/span.ts";
import type { Deps } from "../deps.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { refusalOfGate } from "../domain/permit-gate.ts";
import type { CommandSession } from "../mt5/client.ts";
import { answerQueue, type RecordAnswer } from "./answer-queue.ts";
import type { Permit } from "./grant-permits.ts";
import { type Decision, type PermitRequest, permitRequests } from "./permit-requests.ts";
import { sendAll } from "./send-all.ts";
import { type SendPace, sendPace } from "./send-pace.ts";
import type { SendQueue, Turn } from "./sending.ts";
import { acquireSessions, noSessions, type Sessions } from "./sessions.ts";
import { voidUnsent } from "./void-unsent.ts";

type Sender = Omit<Deps, "sending" | "dispatcher">;

/** Permits in one commit: more would only lengthen it, and a permit expires soon. */
const MAX_PERMITS = 64;
/** Bounds memory and wait while the platform is slow; further requests are refused as busy. */
const MAX_WAITING = 2_000;
/**
 * How long a batch waits for a session: a busy platform slows callers down before a permit is granted. While the platform cannot
 * be reached each request waits this long once, not once for every batch before it.
 */
const SESSION_WAIT_MS = 1_000;
/** Constraints with which the database refuses a permit. */
const WITHOUT_PERMIT = new Set(["attempt_sender", "attempt_permitted"]);

/**
 * The one way to send. What waits while a batch commits is the next batch: it acquires sessions, records its orders and permits
 * in one commit, and sends, while the next batch begins. The answers are recorded together as they arrive.
 */
export function sendQueue(deps: Sender): SendQueue {
  const recordAnswer = answerQueue(deps);
  const pace = sendPace();
  const underWay = new Set<Promise<unknown>>();
  const queue = batchQueue<Waiting, Turn, Sessions>({
    name: "grant permits",
    maxItems: MAX_PERMITS,
    maxWaiting: MAX_WAITING,
    keyOf: ({ request }) => keyOf(request),
    prepare: (waiting) => acquireFor(deps, waiting, pace),
    run: (waiting, sessions) => permitAndSend(deps, waiting, { sessions, recordAnswer, pace, underWay }),
    // A failure of the database may be the fault of no member, and is repeated by each caller.
    maySplit: (error) => !isTransient(error),
  });
  return {
    request: (request, byMs) => queue.add({ request, sinceMs: performance.now(), place: tracePlace() }, byMs),
    async drain() {
      await Promise.all(underWay);
    },
  };
}

type Waiting = { readonly request: PermitRequest; readonly sinceMs: number; readonly place: TracePlace };

/** Requests that occupy the same login are never in one batch. */
function keyOf(request: PermitRequest): string {
  const [first] = request.kind === "order" ? request.order.legs : [];
  const kind = request.kind === "order" ? first?.kind : request.leg.status.kind;
  const login = request.kind === "order" ? first?.login : request.leg.login;
  if (kind !== undefined && LEG_KINDS[kind].exclusive) return `login ${login}`;
  return request.kind === "order" ? `key ${request.order.key}` : `leg ${request.leg.number}`;
}

/** An enqueued order is sent if a session is free, and waits for none. */
async function acquireFor(deps: Sender, waiting: readonly Waiting[], pace: SendPace): Promise<Sessions> {
  if (deps.gate.read() !== "open") return noSessions();
  const patient = waiting.filter(({ request }) => request.kind === "leg" || !request.order.isEnqueued);
  const sinceMs = Math.min(...patient.map((each) => each.sinceMs));
  const waitedMs = deps.mt5.status().reachable ? 0 : performance.now() - sinceMs;
  const waitMs = patient.length === 0 ? undefined : Math.max(0, SESSION_WAIT_MS - waitedMs);
  return await acquireSessions(deps, { sends: waiting.length, sendsOfASession: pace.sendsOfASession(), waitMs });
}

type Means = {
  readonly sessions: Sessions | undefined;
  readonly recordAnswer: RecordAnswer;
  readonly pace: SendPace;
  /** One for each batch; none rejects. */
  readonly underWay: Set<Promise<unknown>>;
};

/** The sends go on after this ends; a session without a permit is free at once. */
async function permitAndSend(
  deps: Sender,
  waiting: readonly Waiting[],
  { sessions, ...means }: Means,
): Promise<readonly Turn[]> {
  const requests = waiting.map(({ request }) => request);
  using stack = new DisposableStack();
  if (sessions !== undefined) stack.use(sessions);
  const assigned = new Map<PermitRequest, CommandSession>();
  const decisions = await commit(deps, requests, { sessions, assigned });
  for (const decision of decisions) {
    if (decision.kind === "recorded") deps.failpoint("after_intent", decision.legs[0]?.status.kind);
  }
  const granted = waiting.flatMap(({ request, place }, index) => {
    const permit = permitOf(decisions[index]);
    const session = assigned.get(request);
    return permit === undefined || session === undefined ? [] : [{ permit, session, place }];
  });
  const used = [...new Set(granted.map(({ session }) => session))];
  const sent = sendAll(deps, granted, { ...means, sessions: used });
  sessions?.keep(used);
  return decisions.map((decision) => {
    const isUnreachable = decision.kind === "wait" && sessions?.isReachable === false;
    const permit = permitOf(decision);
    return {
      decision: isUnreachable ? { kind: "unreachable" } : decision,
      sent: permit && sent.get(permit.leg.number),
    };
  });
}

function permitOf(decision: Decision | undefined): Permit | undefined {
  return decision !== undefined && "permit" in decision ? decision.permit : undefined;
}

type Assignment = { readonly sessions: Sessions | undefined; readonly assigned: Map<PermitRequest, CommandSession> };

/** After a commit with an unknown outcome nothing of the batch is sent, and the permits that were recorded are voided. */
async function commit(
  deps: Sender,
  requests: readonly PermitRequest[],
  { sessions, assigned }: Assignment,
): Promise<Decision[]> {
  const { settings, sender } = deps;
  const grantedAtMs = performance.now();
  const holders = {
    isReachable: sessions === undefined ? false : sessions.isReachable,
    closed: refusalOfGate(deps.gate.read()),
    of(request: PermitRequest) {
      const session = sessions?.next();
      if (session === undefined) return undefined;
      assigned.set(request, session);
      return { epoch: sender.epoch, sessionId: session.sessionId, grantedAtMs };
    },
  };
  let decisions: Decision[] = [];
  try {
    await inTransaction(deps.pool, async (tx) => {
      decisions = await permitRequests(tx, settings.server, requests, holders);
    });
    return decisions;
  } catch (error) {
    if (error instanceof CommitUnknown) {
      for (const [index, request] of requests.entries()) {
        const permit = permitOf(decisions[index]);
        const session = assigned.get(request);
        if (permit !== undefined && session !== undefined) await voidUnsent(deps, permit.leg, session.sessionId);
      }
    }
    // The database was restored or replaced, or permits were stopped: the next heartbeat ends this process, or learns of it.
    if (WITHOUT_PERMIT.has(violatedConstraint(error) ?? "")) throw databaseUnavailable();
    throw error;
  }
}
