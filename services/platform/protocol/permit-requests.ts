import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type Refusal, RESTART_RETRY_AFTER_MS } from "#kernel/values/refusal.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { repeatsLost } from "../domain/lost-movement.ts";
import { refuse } from "../refusals.ts";
import { type Account, lockFreeAccounts } from "../store/accounts.ts";
import { lockLegs } from "../store/legs.ts";
import { listRepeats } from "../store/lost-movements.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { type QueuePosition, type QueueState, readQueues, type WaitingLeg } from "../store/queues.ts";
import { listTransfers, type Transfer } from "../store/transfers.ts";
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
  | Exclude<OrderAnswer, { kind: "taken" }>
  /** The key was recorded before. */
  | { readonly kind: "known"; readonly transfer: Transfer }
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
  const asked = requests.filter((request) => request.kind === "leg" && accounts.has(loginOf(request)));
  const legs = await lockRequestedLegs(tx, asked);
  const logins = { accounts, ...(await queuesOf(tx, requests, accounts)) };
  const orders = requests.filter((request) => request.kind === "order");
  return new Map<PermitRequest, Decision>([
    ...(await decideOrders(tx, logins, orders, holders)),
    ...(await decideLegs(tx, server, { logins, legs, requests, holders })),
  ]);
}

/** Numbers are drawn for orders that may be recorded; one that is not leaves its numbers unused. */
async function queuesOf(
  tx: Transaction,
  requests: readonly PermitRequest[],
  accounts: ReadonlyMap<string, Account>,
): Promise<QueueState> {
  const orders = requests.flatMap((request) => (request.kind === "order" ? request.order : []));
  const legs = orders.flatMap((order) => order.legs);
  const unclear = new Set([...requests.map(loginOf), ...legs.map(({ login }) => login)]);
  return await readQueues(tx, {
    positions: requests.flatMap((request) => positionOf(request, accounts)),
    logins: [...unclear].filter((login) => !accounts.has(login)),
    newLegs: legs.length,
  });
}

async function decideOrders(
  tx: Transaction,
  logins: LockedLogins,
  requests: readonly OrderRequest[],
  holders: Holders,
): Promise<ReadonlyMap<OrderRequest, Decision>> {
  const decisions = new Map<OrderRequest, Decision>();
  for (const request of requests) {
    if (isLocked(request, logins)) decisions.set(request, { kind: "locked" });
    else if (holders.closed !== undefined) decisions.set(request, { kind: "refused", refusal: holders.closed });
    else if (holders.isReachable !== true && neverQueues(request.order)) {
      const isAwaited = holders.isReachable === false;
      decisions.set(request, isAwaited ? { kind: "refused", refusal: unreachable() } : { kind: "locked" });
    }
  }
  // A withdrawal was compared when its account lock was acquired, but a restored database may have a lock whose payout it lost.
  const repeated = await listRepeats(tx, requests, ({ order: { comment, legs } }) => {
    const [leg] = legs;
    if (leg === undefined || LEG_KINDS[leg.kind].origin !== "external") return undefined;
    return logins.accounts.get(leg.login)?.hasLostMovements === true ? { ...leg, comment } : undefined;
  });
  for (const [request, earlier] of repeated) {
    if (!decisions.has(request)) decisions.set(request, { kind: "refused", refusal: repeatsLost(earlier) });
  }
  const undecided = requests.filter((request) => !decisions.has(request));
  for (const [request, transfer] of await claimImported(tx, logins.accounts, undecided)) {
    decisions.set(request, { kind: "known", transfer });
  }
  const free = undecided.filter((request) => !decisions.has(request));
  const permitted = free.map((request) => ({ ...request, permitHolder: () => holders.of(request) }));
  const answers = await insertOrders(tx, logins, permitted);
  for (const [index, request] of free.entries()) {
    const answer = answers[index];
    decisions.set(request, answer === undefined || answer.kind === "taken" ? { kind: "locked" } : answer);
  }
  const unrecorded = requests.filter((request) => decisions.get(request)?.kind !== "recorded");
  const known = await listTransfers(
    tx,
    unrecorded.map(({ order }) => order.key),
  );
  for (const request of unrecorded) {
    const transfer = known.get(request.order.key);
    if (transfer !== undefined) decisions.set(request, { kind: "known", transfer });
  }
  return decisions;
}

type LegRequests = {
  readonly logins: LockedLogins;
  readonly legs: ReadonlyMap<bigint, RecordedLeg>;
  readonly requests: readonly PermitRequest[];
  readonly holders: Holders;
};

async function decideLegs(
  tx: Transaction,
  server: string,
  { logins, legs, requests, holders }: LegRequests,
): Promise<ReadonlyMap<PermitRequest, Decision>> {
  const decisions = new Map<PermitRequest, Decision>();
  const candidates = requests.flatMap((request) => {
    if (request.kind === "order") return [];
    if (isLocked(request, logins)) decisions.set(request, { kind: "locked" });
    const leg = legs.get(request.leg.number);
    const account = leg && logins.accounts.get(leg.login);
    if (leg === undefined || account === undefined) return [];
    const obstacle = logins.obstacles.get(leg.login)?.number;
    return [{ request, account, leg, obstacle, permitHolder: () => holders.of(request) }];
  });
  const answers = await grantPermits(tx, server, candidates);
  for (const [index, { request }] of candidates.entries()) {
    const answer = answers[index] ?? "over";
    decisions.set(request, typeof answer === "string" ? { kind: answer } : { kind: "permitted", permit: answer });
  }
  return decisions;
}

function isLocked(request: PermitRequest, { accounts, managed }: LockedLogins): boolean {
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
function positionOf(request: PermitRequest, accounts: ReadonlyMap<string, Account>): QueuePosition[] {
  const login = loginOf(request);
  const account = accounts.get(login);
  const kind = request.kind === "leg" ? request.leg.kind : request.order.legs[0]?.kind;
  if (account === undefined || kind === undefined || !LEG_KINDS[kind].exclusive) return [];
  const { accountLock } = account;
  return [request.kind === "leg" ? { login, number: request.leg.number, accountLock } : { login, accountLock }];
}

function loginOf(request: PermitRequest): string {
  return request.kind === "leg" ? request.leg.login : (request.order.legs[0]?.login ?? "");
}

function unreachable(): Refusal {
  return refuse("platform_unavailable", "The trading platform cannot be reached. Nothing was executed.", {
    outcome: "not_executed",
    retryAfterMs: RESTART_RETRY_AFTER_MS,
  });
}
