import { inBatches } from "#kernel/batches/in-batches.ts";
import { callContext } from "#kernel/contract/context.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import { fragment, column, type Fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import { inSnapshot } from "#kernel/postgres/transaction.ts";
import { type Check, described, type Finding, MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import { selectIds, MAX_OPEN_ROWS } from "#kernel/reconcile/table-walk.ts";
import { walkTables } from "#kernel/reconcile/walk.ts";
import { type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import type { OwnedLeg } from "#kernel/reconcile/find-transfers.ts";

const CHECK = described("cashflow_completeness");
const KEY = "cashflow";
const TABLES = { cashflow: { name: "cashflow", rows: fragment`cashflow`, id: fragment`id` } };
/** The time of one call; platform answers a page of keys from its database. */
const CALL_MS = 3_000;

/**
 * cashflow_completeness. Each accepted request ends, with the outcome that platform recorded: executed with exactly this
 * deal, or not executed. A finished request never changes, so platform is asked after the snapshot.
 */
export function completeness({ pool, platform }: Pick<Deps, "pool" | "platform">): Check {
  return {
    ...CHECK,
    async run(request) {
      const overdue = await inSnapshot(pool, listOverdue);
      const walk = await walkTables(
        {
          pool,
          tables: TABLES,
          everyMs: CHECK.everyMs,
          async examine(db, { cashflow }, { broken, open }) {
            const ids = selectIds(cashflow, [...broken(KEY), ...open("cashflow")]);
            const finished = await listFinished(db, ids);
            return { findings: () => compare(platform, finished), open: { cashflow: await listOpen(db, ids) } };
          },
        },
        request,
      );
      const unfinished = overdue.map((row) => finding(row, "it is still unfinished after its deadline"));
      return { ...walk, findings: [...unfinished, ...walk.findings] };
    },
  };
}

/** One call of platform for each page of keys. */
async function compare(platform: Deps["platform"], finished: readonly Accepted[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const page of inBatches(finished, MAX_PAGE_SIZE)) {
    const keys = page.map(({ transferKey }) => transferKey);
    const { transfers } = await platform.readTransfers({ keys }, callContext({ caller: "funding", withinMs: CALL_MS }));
    const byKey = new Map(transfers.map((transfer) => [transfer.key, transfer]));
    for (const row of page) {
      const problem = problemOf(row, byKey.get(row.transferKey));
      if (problem !== undefined) findings.push(finding(row, problem));
    }
  }
  return findings;
}

/** Compares the outcome that the caller received with the transfer that platform recorded under its key. */
function problemOf(row: Accepted, transfer: TransferResult | undefined): string | undefined {
  // A withdrawal without a deal has paid out 0.00.
  const wasExecuted = row.state === "POSTED" && (row.action === "deposit" || row.dealId !== null);
  if (!wasExecuted) {
    const isOver = transfer === undefined || transfer.state === TransferState.REFUSED;
    return isOver
      ? undefined
      : "the answer was that no money moved, but the platform has an unresolved or executed transfer";
  }
  if (transfer === undefined) return "the answer was that it was executed, but the platform has no such transfer";
  const [leg] = transfer.legs;
  const isSame =
    transfer.state === TransferState.APPLIED &&
    leg?.dealId === row.dealId &&
    leg.login === row.login &&
    isAmountOf(row, leg.amount?.minorUnits ?? 0n);
  return isSame ? undefined : "the reported outcome differs from the transfer that the platform recorded";
}

/** How much of a withdrawal is paid out is decided by subscription, up to what was requested. */
function isAmountOf({ action, amountMinor, isImported }: Accepted, movedMinor: bigint): boolean {
  if (action === "deposit") return movedMinor === amountMinor;
  return isImported ? movedMinor === -amountMinor : movedMinor < 0n && movedMinor >= -amountMinor;
}

function finding(row: Accepted, problem: string): Finding {
  const { id, operationId, login, action, state, amountMinor, dealId, transferKey } = row;
  return {
    key: `${KEY}:${id}`,
    login,
    masterLogin: "",
    atRiskMinor: amountMinor,
    operationIds: [operationId],
    dealIds: dealId === null ? [] : [dealId],
    message: `Operation ${operationId} (${action}): ${problem}.`,
    evidence: { state, amount_minor: String(amountMinor), transfer_key: transferKey },
  };
}

/** Longer than the quiet period and the recovery after it: an operation that is still open then waits for manual review. */
const OVERDUE_MS = 600_000;

export type Accepted = {
  readonly id: bigint;
  readonly operationId: string;
  readonly login: string;
  readonly action: string;
  readonly state: string;
  /** The requested amount. A withdrawal may have paid out less of it. */
  readonly amountMinor: bigint;
  readonly isImported: boolean;
  readonly dealId: bigint | null;
  readonly transferKey: string;
};

const ACCEPTED = fragment`
  select id, operation_id as "operationId", login, action, state, amount_minor as "amountMinor", deal_id as "dealId",
         is_imported as "isImported",
         case when is_imported then 'imported:' || deal_id
              when action = 'deposit' then 'funding:deposit:' || operation_id
              else 'withdrawal:' || operation_id end as "transferKey"
  from cashflow`;

export async function listOverdue(db: Queryable): Promise<Accepted[]> {
  return many<Accepted>(
    db,
    sql`${ACCEPTED}
        where state = 'RECORDED'
          and case when queue_state in ('WAITING', 'RUNNING') then queue_until else deadline end < clock_timestamp() - ${OVERDUE_MS} * interval '1 millisecond'
        order by id
        limit ${MAX_FINDINGS}`,
  );
}

/** Those of the cashflows that may still change. */
async function listOpen(db: Queryable, ids: Fragment): Promise<bigint[]> {
  return await column<bigint>(
    db,
    sql`select id
        from cashflow
        where state = 'RECORDED' and id in ${ids}
        order by id
        limit ${MAX_OPEN_ROWS + 1}`,
  );
}

/** The other ones of the cashflows. */
export async function listFinished(db: Queryable, ids: Fragment): Promise<Accepted[]> {
  return await many<Accepted>(
    db,
    sql`${ACCEPTED}
        where state in ('POSTED', 'REFUSED') and id in ${ids}
        order by id`,
  );
}

/** The legs behind keys of deposits, which a check of platform asks for. */
export async function listOwnedLegs(db: Queryable, keys: readonly string[]): Promise<OwnedLeg[]> {
  return await many<OwnedLeg>(
    db,
    sql`select requested.key, login, 'deposit' as kind, amount_minor as "amountMinor"
        from unnest(${keys}::text[]) as requested (key)
        join cashflow on operation_id = split_part(requested.key, ':', 3) and requested.key = 'funding:deposit:' || operation_id
        where action = 'deposit'`,
  );
}
