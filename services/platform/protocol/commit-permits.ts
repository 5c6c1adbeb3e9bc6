import { CommitUnknown } from "#kernel/postgres/failure.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { TracePlace } from "#kernel/tracing/span.ts";
import type { Deps, SendingDeps } from "../deps.ts";
import { accepts } from "../domain/leg-machine.ts";
import { refusalOfGate } from "../domain/permit-gate.ts";
import type { CommandSession } from "../mt5/client.ts";
import { findAttempt } from "../store/attempts.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import type { Permit } from "./grant-permits.ts";
import type { Decision, Holders, PermitRequest } from "./permit-requests.ts";
import { type Means, sendAll } from "./send.ts";
import type { Turn } from "./sending.ts";
import type { Sessions } from "./sessions.ts";
import { recordNow, type Recorder } from "./record-now.ts";

/** A request with its place in a trace. */
export type Asked = { readonly request: PermitRequest; readonly place: TracePlace };

export type Decisions = ReadonlyMap<PermitRequest, Decision>;

/** What a commit has decided, and the session of each request that has a permit. */
type Decided = { readonly decisions: Decisions; readonly assigned: ReadonlyMap<PermitRequest, CommandSession> };

/**
 * Decides requests in one transaction. After a commit with an unknown outcome nothing is sent, and the permits that were recorded
 * are voided. Without sessions no permit is granted.
 */
export async function commitPermits(
  deps: SendingDeps,
  sessions: Sessions | undefined,
  decide: (tx: Transaction, holders: Holders) => Promise<Decisions>,
): Promise<Decided> {
  const { sender } = deps;
  const grantedAtMs = performance.now();
  const assigned = new Map<PermitRequest, CommandSession>();
  const holders: Holders = {
    isReachable: sessions === undefined ? false : sessions.isReachable,
    closed: refusalOfGate(deps.gate.read()),
    of(request) {
      const session = sessions?.next();
      if (session === undefined) return undefined;
      assigned.set(request, session);
      return { epoch: sender.epoch, sessionId: session.sessionId, grantedAtMs };
    },
  };
  let decisions: Decisions = new Map();
  try {
    await inTransaction(deps.pool, async (tx) => {
      decisions = await decide(tx, holders);
    });
  } catch (error) {
    if (error instanceof CommitUnknown) {
      for (const [request, session] of assigned) {
        const permit = permitOf(decisions.get(request));
        if (permit !== undefined) await voidUnsent(deps, permit.leg, session.sessionId);
      }
    }
    throw error;
  }
  for (const decision of decisions.values()) {
    if (decision.kind === "recorded") deps.failpoint("after_intent", decision.legs[0]?.status.kind);
  }
  return { decisions, assigned };
}

/** Sends what has a permit. The sends go on after this ends; a session without a permit is free at once. */
export function sendPermitted(
  deps: SendingDeps,
  { decisions, assigned }: Decided,
  asked: readonly Asked[],
  { sessions, ...means }: Omit<Means, "sessions"> & { readonly sessions: Sessions | undefined },
): (Turn | undefined)[] {
  const granted = asked.flatMap(({ request, place }) => {
    const permit = permitOf(decisions.get(request));
    const session = assigned.get(request);
    const next = request.kind === "order" ? request.next : undefined;
    return permit === undefined || session === undefined ? [] : [{ permit, session, place, next }];
  });
  const used = [...new Set(granted.map(({ session }) => session))];
  const sent = sendAll(deps, granted, { ...means, sessions: used });
  sessions?.keep(used);
  return asked.map(({ request }) => {
    const decision = decisions.get(request);
    if (decision === undefined) return undefined;
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

/** Voids a permit whose commit has an unknown outcome: only the batch that was given this session could have used it, and it wrote nothing. */
export async function voidUnsent(
  deps: Recorder & Pick<Deps, "sender">,
  leg: RecordedLeg,
  sessionId: string,
): Promise<void> {
  if (!accepts(leg.status, "not_sent")) return;
  const { attempt } = leg.status;
  const permitted = await findAttempt(deps.pool, leg.number, attempt);
  const isOurs = permitted?.senderEpoch === deps.sender.epoch && permitted.session === sessionId;
  if (isOurs) await recordNow(deps, leg, { type: "not_sent", attempt });
}
