import { inBatches } from "#kernel/in-batches.ts";
import { callContext } from "#kernel/contract/context.ts";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import { fragment } from "#kernel/postgres/query.ts";
import { inSnapshot } from "#kernel/postgres/snapshot.ts";
import { type Check, described, type Finding } from "#kernel/reconcile/check.ts";
import { selectIds } from "#kernel/reconcile/table-walk.ts";
import { walkTables } from "#kernel/reconcile/walk.ts";
import { type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { type Accepted, listFinished, listOpen, listOverdue } from "./find-accepted.ts";

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
