import assert from "node:assert/strict";
import { usd } from "#kernel/values/money.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { one, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { LegKind } from "../domain/leg-kind.ts";
import type { Role } from "../domain/role.ts";
import { openLog } from "../protocol/history/append-to-log.ts";
import type { PermitHolder } from "../protocol/grant-permits.ts";
import { type Decision, permitRequests } from "../protocol/permit-requests.ts";
import { legNumber, type LegNumber } from "../domain/leg-number.ts";
import { findLeg } from "../store/legs.ts";
import { readQueues } from "../store/queues.ts";
import { readDatabase } from "#kernel/postgres/database-identity.ts";
import { openPermitGate } from "../store/permit-gate.ts";
import { insertSender, raiseLegNumbers } from "../store/senders.ts";
import { insertTransfers, type NewLeg, type NewTransfer } from "../store/transfers.ts";

/** Rows as the service writes them, for tests that need the database only: no trade server, no jobs. */

export const SERVER = "test";

export async function aManagedLogin(
  pool: Pool,
  login: string,
  { role = "investor", balanceMinor = 0n }: { readonly role?: Role; readonly balanceMinor?: bigint } = {},
): Promise<void> {
  const at = new Date();
  const account = { login, role, group: "g", server: SERVER, opening: usd(balanceMinor) };
  await inTransaction(pool, (tx) => openLog(tx, { ...account, openedAt: at, readsFrom: at }));
}

export type OrderedLeg = {
  readonly key: string;
  readonly login?: string;
  readonly kind?: LegKind;
  readonly amountMinor?: bigint;
  readonly lockOwner?: string;
  readonly ordinal?: number;
  readonly isReady?: boolean;
  readonly isEnqueued?: boolean;
  readonly sendBefore?: Date;
  readonly generation?: bigint;
  /** Number of earlier attempts. */
  readonly attempt?: number;
};

/** A waiting leg, the only one of its transfer. */
export async function aWaitingLeg(pool: Pool, leg: OrderedLeg): Promise<LegNumber> {
  const {
    key,
    login = "1",
    kind = "deposit",
    amountMinor = 5n,
    ordinal = 1,
    isReady = true,
    attempt = 0,
    ...order
  } = leg;
  const status = { kind, attempt, absences: 0, state: "INTENT" } as const;
  const waiting = { ordinal, login, requestedMinor: amountMinor, amountMinor, isReady, status };
  const [number] = await insertLegs(pool, { key, legCount: Math.max(ordinal, 1), ...order }, [waiting]);
  assert(number !== undefined);
  return number;
}

/** A debit that its floor reduced from 0.08 to 0.05, and the credit that follows it, both waiting. */
export async function aTwoLeggedTransfer(
  pool: Pool,
  { key, debit, credit }: { readonly key: string; readonly debit: string; readonly credit: string },
): Promise<readonly [LegNumber, LegNumber]> {
  const kept = { attempt: 0, absences: 0, state: "INTENT" } as const;
  const legs = [
    { ordinal: 1, login: debit, requestedMinor: -8n, amountMinor: -5n, isReady: true, kind: "fee_debit" },
    { ordinal: 2, login: credit, requestedMinor: 8n, amountMinor: 5n, isReady: false, kind: "fee_credit" },
  ] as const;
  const [first, second] = await insertLegs(
    pool,
    { key, legCount: 2 },
    legs.map(({ kind, ...leg }) => ({ ...leg, status: { ...kept, kind } })),
  );
  assert(first !== undefined && second !== undefined);
  return [first, second];
}

type Order = Pick<NewTransfer, "key" | "legCount"> & Partial<NewTransfer>;

async function insertLegs(pool: Pool, order: Order, legs: readonly Omit<NewLeg, "number">[]): Promise<LegNumber[]> {
  return await inTransaction(pool, async (tx) => {
    await raiseLegNumbers(tx, Date.now());
    const { numbers } = await readQueues(tx, { positions: [], newLegs: legs.length });
    const numbered = legs.map((leg, index) => ({ ...leg, number: numbers[index] ?? legNumber(0n) }));
    const rest = {
      lockOwner: "",
      isEnqueued: false,
      releasesLock: false,
      sendBefore: undefined,
      generation: undefined,
      comment: "",
      requestId: "",
      permit: undefined,
    };
    const ids = await insertTransfers(tx, [{ ...rest, ...order, legs: numbered }]);
    assert(ids.has(order.key), `${order.key} exists already`);
    return numbered.map(({ number }) => number);
  });
}

export async function aPermitHolder(pool: Pool, own: Partial<PermitHolder> = {}): Promise<PermitHolder> {
  await inTransaction(pool, (tx) => raiseLegNumbers(tx, Date.now()));
  await inTransaction(pool, async (tx) => await openPermitGate(tx, await readDatabase(tx)));
  const { epoch } = await insertSender(pool);
  return { epoch, sessionId: "s/1", grantedAtMs: 1_000, ...own };
}

/** Asks for the permit of a recorded leg. */
export async function permitLeg(pool: Pool, number: LegNumber, permitHolder: PermitHolder): Promise<Decision> {
  const leg = await findLeg(pool, number);
  assert(leg !== undefined, `leg ${number} is not recorded`);
  const holders = { isReachable: true, of: () => permitHolder };
  const request = { kind: "leg", leg: { number, login: leg.login, kind: leg.status.kind } } as const;
  const decisions = await inTransaction(pool, (tx) => permitRequests(tx, SERVER, [request], holders));
  return decisions.get(request) ?? { kind: "over" };
}

/** The owner of the account lock of a login; null without one. */
export async function lockOwnerOf(pool: Pool, login: string): Promise<string | null> {
  const { owner } = await one<{ owner: string | null }>(
    pool,
    sql`select locked_by as owner from account where login = ${login}`,
  );
  return owner;
}
