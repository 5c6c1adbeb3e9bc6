import { databaseUnavailable } from "#kernel/contract/refusals.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type Refusal, RESTART_RETRY_AFTER_MS } from "#kernel/values/refusal.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { executedBefore, repeatsLost } from "../domain/lost-movement.ts";
import { refuse } from "../refusals.ts";
import { type Account, listAccounts, lockFreeAccounts } from "../store/accounts.ts";
import { listLegsByKey, lockLegs } from "../store/legs.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { type QueuePosition, readQueues, type WaitingLeg } from "../store/queues.ts";
import { grantPermits, type Permit, type PermitHolder } from "./grant-permits.ts";
import { claimImported } from "./claim-imported.ts";
import { insertOrders, type LockedLogins, type OrderAnswer } from "./insert-orders.ts";
import { neverQueues, type TransferOrder } from "./transfer-order.ts";

/** An order that may not be recorded yet, or a recorded leg that waits for its turn. */
export type PermitRequest = OrderRequest | LegRequest;
export type OrderRequest = {
  readonly kind: "order";
  readonly order: TransferOrder;
  readonly requestId: string;
  /** The order that follows when this one is applied: it gets its permit in the commit of the answer, if a session is free. */
  readonly next?: OrderRequest | undefined;
};
type LegRequest = { readonly kind: "leg"; readonly leg: WaitingLeg };

export type Decision =
  | OrderAnswer
  /** The key was recorded before, with these legs. */
  | { readonly kind: "known"; readonly legs: readonly RecordedLeg[] }
  | { readonly kind: "permitted"; readonly permit: Permit }
  | { readonly kind: "wait" }
  /** The leg needs no permit any more. */
  | { readonly kind: "over" }
  /** Another transaction has the account or the key, or no session was waited for: nothing was recorded. */
  | { readonly kind: "locked" };

export type Holders = {
  /**
   * False when no session is open: then an order that never queues is refused. Undefined when none is free and no request has waited
   * for one: then such an order has to be asked for again.
   */
  readonly isReachable: boolean | undefined;
  /** Set while the gate of permits is closed: no order is recorded. */
  readonly closed?: Refusal | undefined;
  /** The sender of a request that is permitted. */
  readonly of: (request: PermitRequest) => PermitHolder | undefined;
};

/**
 * Records orders and grants permits, all in one transaction; each request gets its own decision, or none when its leg is gone. At most one request may
 * occupy a login. A request whose account another transaction has locked is left out, so that it delays no other one.
 */
export async function permitRequests(
  tx: Transaction,
  server: string,
  requests: readonly PermitRequest[],
  holders: Holders,
): Promise<ReadonlyMap<PermitRequest, Decision>> {
  const accounts = await lockFreeAccounts(tx, [...new Set(requests.map(loginOf))]);
  const orders = requests.filter((request) => request.kind === "order");
  const waiting = requests.filter((request) => request.kind === "leg");
  const numbers = waiting.flatMap((request) => (accounts.has(loginOf(request)) ? request.leg.number : []));
  const legs = new Map((await lockLegs(tx, numbers)).map((leg) => [leg.number, leg]));
  const newLegs = orders.flatMap(({ order }) => order.legs);
  const involved = new Set([...requests.map(loginOf), ...newLegs.map(({ login }) => login)]);
  const unlocked = [...involved].filter((login) => !accounts.has(login));
  // Numbers are drawn for orders that may be recorded; one that is not leaves its numbers unused.
  const positions = requests.flatMap((request) => positionOf(request, accounts));
  const queues = await readQueues(tx, { positions, newLegs: newLegs.length });
  const logins = { accounts, others: await listAccounts(tx, unlocked), ...queues };
  return new Map<PermitRequest, Decision>([
    ...(await decideOrders(tx, logins, orders, holders)),
    ...(await decideLegs(tx, server, { logins, legs, waiting, holders })),
  ]);
}

async function decideOrders(
  tx: Transaction,
  logins: LockedLogins,
  requests: readonly OrderRequest[],
  holders: Holders,
): Promise<ReadonlyMap<OrderRequest, Decision>> {
  const decisions = new Map<OrderRequest, Decision>();
  for (const request of requests) {
    const decision = decideUnrecorded(logins, request, holders);
    if (decision !== undefined) decisions.set(request, decision);
  }
  const undecided = requests.filter((request) => !decisions.has(request));
  for (const [request, legs] of await claimImported(tx, logins.accounts, undecided)) {
    decisions.set(request, { kind: "known", legs });
  }
  const free = undecided.filter((request) => !decisions.has(request));
  for (const [request, answer] of await insertOrders(tx, logins, free, holders.of)) decisions.set(request, answer);
  const unrecorded = requests.filter((request) => decisions.get(request)?.kind !== "recorded");
  const known = await listLegsByKey(
    tx,
    unrecorded.map(({ order }) => order.key),
  );
  for (const request of unrecorded) {
    const legs = known.get(request.order.key);
    if (legs !== undefined) decisions.set(request, { kind: "known", legs });
    else if (!decisions.has(request)) decisions.set(request, { kind: "locked" });
  }
  return decisions;
}

/** What keeps an order from being recorded, whatever it moves; one that was recorded before is answered all the same. */
function decideUnrecorded(
  logins: LockedLogins,
  request: OrderRequest,
  { isReachable, closed }: Holders,
): Decision | undefined {
  const { order } = request;
  const [first] = order.legs;
  const refused = (refusal: Refusal): Decision => ({ kind: "refused", refusal });
  if (isLocked(request, logins)) return { kind: "locked" };
  if (closed !== undefined) return refused(closed);
  if (!logins.isGateOpen) return refused(databaseUnavailable());
  if (isReachable !== true && neverQueues(order)) {
    return isReachable === false ? refused(unreachable()) : { kind: "locked" };
  }
  // A withdrawal was compared when its account lock was acquired, but a restored database may have a lock whose payout it lost.
  const earlier = executedBefore({ ...first, comment: order.comment }, logins.accounts.get(first.login)?.lost);
  return earlier && refused(repeatsLost(earlier));
}

type LegRequests = {
  readonly logins: LockedLogins;
  readonly legs: ReadonlyMap<bigint, RecordedLeg>;
  readonly waiting: readonly LegRequest[];
  readonly holders: Holders;
};

async function decideLegs(
  tx: Transaction,
  server: string,
  { logins, legs, waiting, holders }: LegRequests,
): Promise<ReadonlyMap<PermitRequest, Decision>> {
  const decisions = new Map<PermitRequest, Decision>();
  const { accounts, obstacles, isGateOpen } = logins;
  const candidates = waiting.flatMap((request) => {
    if (isLocked(request, logins)) decisions.set(request, { kind: "locked" });
    const leg = legs.get(request.leg.number);
    const account = leg && accounts.get(leg.login);
    if (leg === undefined || account === undefined) return [];
    const obstacle = obstacles.get(leg.login)?.number;
    return [{ request, account, leg, obstacle, isGateOpen, permitHolder: () => holders.of(request) }];
  });
  const answers = await grantPermits(tx, server, candidates);
  for (const [index, { request }] of candidates.entries()) {
    const answer = answers[index] ?? "over";
    decisions.set(request, typeof answer === "string" ? { kind: answer } : { kind: "permitted", permit: answer });
  }
  return decisions;
}

function isLocked(request: PermitRequest, { others }: LockedLogins): boolean {
  return others.has(loginOf(request));
}

/** Only a leg that occupies its login waits for others. */
function positionOf(request: PermitRequest, accounts: ReadonlyMap<string, Account>): QueuePosition[] {
  const { login, kind } = legOf(request);
  const account = accounts.get(login);
  if (account === undefined || !LEG_KINDS[kind].exclusive) return [];
  const { accountLock } = account;
  return [request.kind === "leg" ? { login, number: request.leg.number, accountLock } : { login, accountLock }];
}

/** The leg that a request may have sent. */
export function legOf(request: PermitRequest): Pick<WaitingLeg, "login" | "kind"> {
  return request.kind === "leg" ? request.leg : request.order.legs[0];
}

function loginOf(request: PermitRequest): string {
  return legOf(request).login;
}

function unreachable(): Refusal {
  return refuse("platform_unavailable", "The trading platform cannot be reached. Nothing was executed.", {
    outcome: "not_executed",
    retryAfterMs: RESTART_RETRY_AFTER_MS,
  });
}
