import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { CrystalliseResponse, DueItem, PreviewCrystalliseRequest } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { allocationInProgress } from "../domain/allocation-in-progress.ts";
import { type Due, lessPrepaid } from "../domain/due.ts";
import { earn, type Part } from "../domain/layers.ts";
import { dueNow, type PendingFacts } from "../domain/pending.ts";
import { safetyStop } from "../domain/safety-stop.ts";
import { changesOf } from "../domain/version.ts";
import { refuse } from "../refusals.ts";
import { findMaster } from "../store/masters.ts";
import { readFacts } from "./pending-facts.ts";

/** What a crystallisation would fix now: the same rules on the same facts, in one snapshot that nothing is written to. */
export async function previewCrystallise(
  deps: Deps,
  {
    at,
    investorLogin,
    masterLogin,
    throughNumber,
    floatingE8: floating = 0n,
    realisedMinor = 0n,
  }: PreviewCrystalliseRequest,
  context: CallContext,
): Promise<CrystalliseResponse> {
  if (at === undefined) throw refuse("validation_failed", "A preview requires an instant.");
  if (masterLogin !== "") await checkRead(deps, masterLogin, throughNumber);
  const pool = masterLogin === "" ? undefined : { masterLogin, throughNumber, floating, markedAt: undefined };
  const now = await readFacts(deps, { investorLogin, pool, at }, context);
  // A later entry is decided already, so the position of the preview is outdated.
  if (now === "newer" || now === "unfinished") throw allocationInProgress(masterLogin);
  const due = dueNow(withResult(now.facts, { amount: realisedMinor, earnedAt: at }));
  const pending = itemsOf(due, lessPrepaid(due, now.facts.prepaid));
  return {
    pending: moneyToProto(usd(pending.reduce((sum, { amount }) => sum + (amount?.minorUnits ?? 0n), 0n))),
    items: [...now.openWeekly.map(({ key, due: amount }) => dueItem(key, amount, true)), ...pending],
  };
}

function withResult(facts: PendingFacts, part: Part): PendingFacts {
  if (facts.own === undefined || part.amount === 0n) return facts;
  const earnings = earn(facts.own.earnings, [part], changesOf(facts.versions));
  return { ...facts, own: { ...facts.own, earnings } };
}

async function checkRead({ pool }: Deps, masterLogin: string, throughNumber: bigint): Promise<void> {
  const master = await findMaster(pool, masterLogin);
  if (master?.stoppedReason !== undefined) throw safetyStop(masterLogin, "unreadable");
  if (master?.breakReason !== undefined) throw safetyStop(masterLogin, "break");
  if ((master?.read.number ?? 0n) < throughNumber) throw allocationInProgress(masterLogin);
}

/** Without those that were paid in advance. No transfer has their keys. */
function itemsOf(due: readonly Due[], amounts: readonly bigint[]): DueItem[] {
  return due.flatMap(({ kind, masterLogin }, index) => {
    const amount = amounts[index] ?? 0n;
    return amount === 0n ? [] : [dueItem(`preview:${kind}:${masterLogin}`, amount, false)];
  });
}

function dueItem(key: string, amount: bigint, isWeekly: boolean): DueItem {
  return { key, amount: moneyToProto(usd(amount)), isWeekly };
}
