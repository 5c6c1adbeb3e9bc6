import { callContext } from "#kernel/contract/context.ts";
import { Refusal } from "#kernel/refusal.ts";
import { abs, type Check, type Finding, inSnapshot } from "#kernel/reconcile/check.ts";
import { type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { type Accepted, listAccepted, listUnfinished } from "./find-accepted.ts";

/** Each row costs one call to platform, and the recovery job has finished every row long before. */
const EVERY_MS = 300_000;
/** The time of one call; platform answers from its database. */
const CALL_MS = 3_000;

/**
 * cashflow_completeness. Each accepted request ends, with the outcome that platform recorded: executed with exactly this
 * deal, or not executed. A finished request never changes, so one confirmation is enough.
 */
export function completeness({ pool, platform }: Pick<Deps, "pool" | "platform">): Check {
  return {
    name: "cashflow_completeness",
    title: "Each accepted deposit and withdrawal is finished, with the outcome that the platform recorded.",
    everyMs: EVERY_MS,
    confirmations: 1,
    async run({ cursor, pendingBreaks }) {
      const [unfinished, { accepted, next }] = await inSnapshot(pool, async (db) => [
        await listUnfinished(db),
        await listAccepted(db, cursor, pendingBreaks),
      ]);
      const findings = unfinished.map((row) => finding(row, "it is still unfinished after its deadline"));
      for (const row of accepted) {
        const problem = problemOf(row, await findTransfer(platform, row.transferKey));
        if (problem !== undefined) findings.push(finding(row, problem));
      }
      return { findings, covers: () => true, nextCursor: next, endsPass: next === "" };
    },
  };
}

async function findTransfer(platform: Deps["platform"], key: string): Promise<TransferResult | undefined> {
  try {
    return await platform.getTransfer({ key }, callContext({ caller: "funding", withinMs: CALL_MS }));
  } catch (error) {
    if (error instanceof Refusal && error.code === "transfer_not_found") return undefined;
    throw error;
  }
}

/** Compares the outcome that the caller received with the transfer that platform recorded under its key. */
function problemOf(row: Accepted, transfer: TransferResult | undefined): string | undefined {
  const wasExecuted = row.state === "POSTED" && row.movedMinor !== 0n;
  if (!wasExecuted) {
    if (row.dealId !== null) return "it has a deal although no money should have moved";
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
    leg.amount?.minorUnits === row.movedMinor;
  return isSame ? undefined : "the reported outcome differs from the transfer that the platform recorded";
}

function finding(row: Accepted, problem: string): Finding {
  const { id, operationId, login, action, state, amountMinor, movedMinor, dealId, transferKey } = row;
  return {
    key: `cashflow:${id}`,
    login,
    masterLogin: "",
    atRiskMinor: abs(movedMinor) || amountMinor,
    operationIds: [operationId],
    dealIds: dealId === null ? [] : [dealId],
    message: `Operation ${operationId} (${action}): ${problem}.`,
    evidence: {
      state,
      amount_minor: String(amountMinor),
      moved_minor: String(movedMinor),
      transfer_key: transferKey,
    },
  };
}
