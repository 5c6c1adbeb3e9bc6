import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { inSnapshot } from "#kernel/reconcile/check.ts";
import type { CrystalliseResponse, DueItem, PreviewCrystalliseRequest } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { allocationInProgress } from "../domain/allocation-in-progress.ts";
import { debtsOf } from "../domain/debt.ts";
import { decideDue, decideLeaving, type Due, lessPrepaid } from "../domain/due.ts";
import { feesUnknown } from "../domain/fees-unknown.ts";
import { beginFold, continueFold, type Fold } from "../domain/fold.ts";
import { NOTHING_EARNED } from "../domain/layers.ts";
import { safetyStop } from "../domain/safety-stop.ts";
import type { FeeVersion } from "../domain/version.ts";
import { refuse } from "../refusals.ts";
import { listTerms } from "../store/configurations.ts";
import { listOpenWeekly } from "../store/due-payments.ts";
import { areFeesKnown } from "../store/fee-search.ts";
import { listPartsToFold } from "../store/journal.ts";
import { findMaster } from "../store/masters.ts";
import { readPairs } from "../store/pairs.ts";

type Previewed = Pick<PreviewCrystalliseRequest, "investorLogin" | "throughNumber" | "floatingE8"> & {
  readonly masterLogin: string | undefined;
  readonly at: Date;
};

/** What a crystallisation would fix now: the same rules on the same facts, in one snapshot that nothing is written to. */
export async function previewCrystallise(
  { pool, steps }: Deps,
  { at, ...request }: PreviewCrystalliseRequest,
): Promise<CrystalliseResponse> {
  if (at === undefined) throw refuse("validation_failed", "A preview requires an instant.");
  const masterLogin = request.masterLogin === "" ? undefined : request.masterLogin;
  const items = await inSnapshot(pool, (db) => listItems(db, { ...request, masterLogin, at }, steps.results));
  const pending = items.filter(({ isWeekly }) => !isWeekly);
  return {
    pending: moneyToProto(usd(pending.reduce((sum, { amount }) => sum + (amount?.minorUnits ?? 0n), 0n))),
    items,
  };
}

async function listItems(db: Queryable, previewed: Previewed, maxResults: number): Promise<DueItem[]> {
  const { investorLogin, masterLogin, at } = previewed;
  if (!(await areFeesKnown(db))) throw feesUnknown("not_executed");
  if (masterLogin !== undefined) await checkRead(db, masterLogin, previewed.throughNumber);
  const versions = (await listTerms(db, [investorLogin])).get(investorLogin)?.versions ?? [];
  const { pairs, prepaid } = await readPairs(db, investorLogin, masterLogin === undefined ? [] : [masterLogin]);
  const pair = pairs.find((each) => each.masterLogin === masterLogin) ?? { foldedNumber: 0n, earnings: NOTHING_EARNED };
  const { earnings } = await foldAll(db, { ...previewed, versions, maxResults }, pair);
  const facts = { earnings, versions, debts: debtsOf(pairs), at };
  const { floatingE8: floating = 0n } = previewed;
  const { due } =
    masterLogin === undefined || floating === 0n
      ? decideLeaving({ ...facts, masterLogin })
      : decideDue({ ...facts, masterLogin, floating, markedAt: undefined });
  const weekly = (await listOpenWeekly(db, [investorLogin])).get(investorLogin) ?? [];
  return [
    ...weekly.map(({ key, due: amount }) => dueItem(key, amount, true)),
    ...itemsOf(due, lessPrepaid(due, prepaid)),
  ];
}

async function checkRead(db: Queryable, masterLogin: string, throughNumber: bigint): Promise<void> {
  const master = await findMaster(db, masterLogin);
  if (master?.stoppedReason !== undefined) throw safetyStop(masterLogin, "unreadable");
  if (master?.breakReason !== undefined) throw safetyStop(masterLogin, "break");
  if ((master?.read.number ?? 0n) < throughNumber) throw allocationInProgress(masterLogin);
}

type ToFold = Previewed & { readonly versions: readonly FeeVersion[]; readonly maxResults: number };

/** In steps, so that the memory is bounded. */
async function foldAll(db: Queryable, { masterLogin, ...wanted }: ToFold, from: Fold): Promise<Fold> {
  const { investorLogin, throughNumber, versions, maxResults } = wanted;
  if (masterLogin === undefined) return from;
  // A later entry is decided already, so the position of the preview is outdated.
  if (from.foldedNumber > throughNumber) throw allocationInProgress(masterLogin);
  let fold = beginFold(from, versions);
  while (fold.foldedNumber < throughNumber) {
    const { foldedNumber } = fold;
    const [next] = await listPartsToFold(db, [{ investorLogin, masterLogin, foldedNumber, throughNumber }], maxResults);
    if (next === undefined) break;
    fold = continueFold(fold, next, versions);
  }
  return fold;
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
