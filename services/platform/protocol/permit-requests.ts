import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/refusal.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { refuse } from "../refusals.ts";
import { listRoles, lockFreeAccounts } from "../store/accounts.ts";
import { lockLegs } from "../store/legs.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { findObstacles, type QueuePosition } from "../store/queues.ts";
import { listTransfers, type Transfer } from "../store/transfers.ts";
import { grantPermits, type Permit, type PermitHolder } from "./grant-permits.ts";
import { insertOrders, type LockedLogins, type NewOrder, type OrderAnswer } from "./insert-orders.ts";
import { neverQueues } from "./transfer-order.ts";

/** An order that may not be recorded yet, or a recorded leg that waits for its turn. */
export type PermitRequest =
  | ({ readonly kind: "order" } & NewOrder)
  | { readonly kind: "leg"; readonly leg: RecordedLeg };

export type Decision =
  /** The order is recorded, and its first leg permitted if it was its turn. */
  | (Extract<OrderAnswer, { kind: "recorded" }> & { readonly permit: Permit | undefined })
  | Extract<OrderAnswer, { kind: "refused" }>
  /** The key was recorded before. */
  | { readonly kind: "known"; readonly transfer: Transfer }
  | { readonly kind: "permitted"; readonly permit: Permit }
  | { readonly kind: "wait" }
  /** The leg needs no permit any more. */
  | { readonly kind: "over" }
  /** Another transaction has the account or the key: nothing was recorded. */
  | { readonly kind: "locked" };

export type Holders = {
  /** False when no session is open: then an order that never queues is refused. */
  readonly isReachable: boolean;
  /** The sender of a request that is permitted. */
  readonly of: (request: PermitRequest) => PermitHolder | undefined;
};

/**
 * Records orders and grants permits, all in one transaction; each request gets its own decision. At most one request may
 * occupy a login. A request whose account another transaction has locked is left out, so that it delays no other one.
 */
export async function permitRequests(
  tx: Transaction,
  server: string,
  requests: readonly PermitRequest[],
  holders: Holders,
): Promise<Decision[]> {
  const known = await listKnown(tx, requests);
  const open = requests.filter((request) => request.kind === "leg" || !known.has(request.order.key));
  const logins = await lockLogins(tx, open);
  const decisions = new Map<PermitRequest, Decision>();
  for (const request of open) {
    if (isLocked(request, logins)) decisions.set(request, { kind: "locked" });
    else if (!holders.isReachable && request.kind === "order" && neverQueues(request.order)) {
      decisions.set(request, { kind: "refused", refusal: unreachable() });
    }
  }
  const free = open.filter((request) => !decisions.has(request));
  const legs = await lockRequestedLegs(tx, free);
  const obstacles = await findObstacles(
    tx,
    free.flatMap((request) => positionOf(request, logins)),
  );

  const orders = free.filter((request) => request.kind === "order");
  const recorded = await insertOrders(tx, { ...logins, obstacles }, orders);
  const candidates = free.flatMap((request) => {
    const answer = request.kind === "order" ? recorded[orders.indexOf(request)] : undefined;
    if (answer !== undefined) decisions.set(request, decisionOf(answer));
    if (request.kind === "order" && request.order.isEnqueued) return [];
    const leg = request.kind === "leg" ? legs.get(request.leg.number) : firstOf(answer);
    const account = leg && logins.accounts.get(leg.login);
    if (leg === undefined || account === undefined) return [];
    return [{ request, account, leg, behind: obstacles.get(leg.login), permitHolder: holders.of(request) }];
  });
  const answers = await grantPermits(tx, server, candidates);
  for (const [index, { request }] of candidates.entries()) {
    const answer = answers[index];
    const before = decisions.get(request);
    const permit = typeof answer === "object" ? answer : undefined;
    if (before?.kind === "recorded") decisions.set(request, { ...before, permit });
    else if (permit !== undefined) decisions.set(request, { kind: "permitted", permit });
    else decisions.set(request, { kind: answer === "wait" ? "wait" : "over" });
  }
  return requests.map((request) => {
    const transfer = request.kind === "order" ? known.get(request.order.key) : undefined;
    return transfer === undefined ? (decisions.get(request) ?? { kind: "over" }) : { kind: "known", transfer };
  });
}

async function listKnown(tx: Transaction, requests: readonly PermitRequest[]): Promise<ReadonlyMap<string, Transfer>> {
  const keys = requests.flatMap((request) => (request.kind === "order" ? request.order.key : []));
  return keys.length === 0 ? new Map() : await listTransfers(tx, keys);
}

/** Locks the accounts of first legs, and finds which of all logins are managed. */
async function lockLogins(
  tx: Transaction,
  requests: readonly PermitRequest[],
): Promise<Omit<LockedLogins, "obstacles">> {
  const logins = requests.map(loginOf);
  const accounts = await lockFreeAccounts(tx, [...new Set(logins)]);
  const credited = requests.flatMap((request) =>
    request.kind === "order" ? request.order.legs.slice(1).map(({ login }) => login) : [],
  );
  const unclear = [...new Set([...credited, ...logins])].filter((login) => !accounts.has(login));
  const roles = unclear.length === 0 ? new Map() : await listRoles(tx, unclear);
  return { accounts, managed: new Set([...accounts.keys(), ...roles.keys()]) };
}

function isLocked(request: PermitRequest, { accounts, managed }: Omit<LockedLogins, "obstacles">): boolean {
  const login = loginOf(request);
  return managed.has(login) && !accounts.has(login);
}

async function lockRequestedLegs(
  tx: Transaction,
  requests: readonly PermitRequest[],
): Promise<ReadonlyMap<bigint, RecordedLeg>> {
  const numbers = requests.flatMap((request) => (request.kind === "leg" ? request.leg.number : []));
  const legs = numbers.length === 0 ? [] : await lockLegs(tx, numbers);
  return new Map(legs.map((leg) => [leg.number, leg]));
}

/** Only a leg that occupies its login waits for others. */
function positionOf(request: PermitRequest, { accounts }: Omit<LockedLogins, "obstacles">): QueuePosition[] {
  const login = loginOf(request);
  const account = accounts.get(login);
  const kind = request.kind === "leg" ? request.leg.status.kind : request.order.legs[0]?.kind;
  if (account === undefined || kind === undefined || !LEG_KINDS[kind].exclusive) return [];
  const { accountLock } = account;
  return [request.kind === "leg" ? { login, number: request.leg.number, accountLock } : { login, accountLock }];
}

function loginOf(request: PermitRequest): string {
  return request.kind === "leg" ? request.leg.login : (request.order.legs[0]?.login ?? "");
}

/** A key that another transaction has just recorded is known to the next try. */
function decisionOf(answer: OrderAnswer): Decision {
  if (answer.kind === "recorded") return { ...answer, permit: undefined };
  return answer.kind === "refused" ? answer : { kind: "locked" };
}

function unreachable(): Refusal {
  return refuse("platform_unavailable", "The trading platform cannot be reached. Nothing was executed.", {
    outcome: "not_executed",
  });
}

function firstOf(answer: OrderAnswer | undefined): RecordedLeg | undefined {
  return answer?.kind === "recorded" ? answer.legs[0] : undefined;
}
