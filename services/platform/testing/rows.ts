import assert from "node:assert/strict";
import { usd } from "#kernel/money.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { LegKind } from "../domain/leg-kind.ts";
import type { Role } from "../domain/role.ts";
import { openLog } from "../protocol/history/append-to-log.ts";
import type { PermitHolder } from "../protocol/grant-permits.ts";
import { type Decision, permitRequests } from "../protocol/permit-requests.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { findLeg } from "../store/legs.ts";
import { insertLegs } from "../store/leg-transitions.ts";
import { insertSender } from "../store/senders.ts";
import { insertTransfers } from "../store/transfers.ts";

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
  readonly lockOwner?: string;
  readonly ordinal?: number;
  readonly isReady?: boolean;
  readonly sendBefore?: Date;
  /** Number of earlier attempts. */
  readonly attempt?: number;
};

/** A waiting leg, the only one of its transfer. */
export async function aWaitingLeg(pool: Pool, leg: OrderedLeg): Promise<LegNumber> {
  const {
    key,
    login = "1",
    kind = "deposit",
    lockOwner = "",
    ordinal = 1,
    isReady = true,
    sendBefore,
    attempt = 0,
  } = leg;
  const own = {
    key,
    lockOwner,
    legCount: Math.max(ordinal, 1),
    floorMinor: undefined,
    isEnqueued: false,
    releasesLock: false,
    sendBefore,
  };
  return await inTransaction(pool, async (tx) => {
    const inserted = await insertTransfers(tx, [{ ...own, comment: "", requestId: "" }]);
    const transferId = inserted.get(key)?.id;
    assert(transferId !== undefined, `${key} exists already`);
    const status = { kind, attempt, absences: 0, state: "INTENT" } as const;
    const amounts = { requestedMinor: 5n, amountMinor: 5n };
    const [number] = await insertLegs(tx, [{ transferId, ordinal, login, ...amounts, isReady, status }]);
    assert(number !== undefined);
    return number;
  });
}

/** A debit that its floor reduced from 0.08 to 0.05, and the credit that follows it, both waiting. */
export async function aTwoLeggedTransfer(
  pool: Pool,
  { key, debit, credit }: { readonly key: string; readonly debit: string; readonly credit: string },
): Promise<readonly [LegNumber, LegNumber]> {
  const own = {
    key,
    lockOwner: "",
    legCount: 2,
    floorMinor: undefined,
    isEnqueued: false,
    releasesLock: false,
    sendBefore: undefined,
  };
  return await inTransaction(pool, async (tx) => {
    const transferId = (await insertTransfers(tx, [{ ...own, comment: "", requestId: "" }])).get(key)?.id;
    assert(transferId !== undefined, `${key} exists already`);
    const kept = { attempt: 0, absences: 0, state: "INTENT" } as const;
    const legs = [
      { ordinal: 1, login: debit, requestedMinor: -8n, amountMinor: -5n, isReady: true, kind: "fee_debit" },
      { ordinal: 2, login: credit, requestedMinor: 8n, amountMinor: 5n, isReady: false, kind: "fee_credit" },
    ] as const;
    const [first, second] = await insertLegs(
      tx,
      legs.map(({ kind, ...leg }) => ({ ...leg, transferId, status: { ...kept, kind } })),
    );
    assert(first !== undefined && second !== undefined);
    return [first, second];
  });
}

export async function aPermitHolder(pool: Pool, own: Partial<PermitHolder> = {}): Promise<PermitHolder> {
  return { epoch: await insertSender(pool), sessionId: "s/1", grantedAtMs: 1_000, ...own };
}

/** Asks for the permit of a recorded leg. */
export async function permitLeg(pool: Pool, number: LegNumber, permitHolder: PermitHolder): Promise<Decision> {
  const leg = await findLeg(pool, number);
  assert(leg !== undefined, `leg ${number} is not recorded`);
  const holders = { isReachable: true, of: () => permitHolder };
  const [decision] = await inTransaction(pool, (tx) => permitRequests(tx, SERVER, [{ kind: "leg", leg }], holders));
  assert(decision !== undefined);
  return decision;
}
