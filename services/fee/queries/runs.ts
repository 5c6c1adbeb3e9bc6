import type { CallContext } from "#kernel/contract/contract.ts";
import { usdToProto } from "#kernel/contract/money.ts";
import { LOST_PLACE, pageOf, pageSize } from "#kernel/page.ts";
import type {
  FeeRun,
  GetRunRequest,
  ListRunPaymentsRequest,
  ListRunPaymentsResponse,
  ListRunsRequest,
  ListRunsResponse,
  RunPayment,
} from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import {
  findRun,
  type ListedRun,
  listPaymentsOfRun,
  listWeeklyRuns,
  listWeeklyRunsOf,
  type PaymentOfRun,
  placeOf,
} from "../store/runs.ts";

/** Above every id: a listing without a cursor begins with the newest. */
const NEWEST = 2n ** 63n - 1n;
const END_OF_TIME = new Date("9999-01-01T00:00:00Z");
const FIRST = ["", "", ""] as const;

export async function listRuns(
  { pool, accounts }: Pick<Deps, "pool" | "accounts">,
  { masterLogin, beforeId, limit }: ListRunsRequest,
  context: CallContext,
): Promise<ListRunsResponse> {
  const size = pageSize(limit);
  if (masterLogin === "") {
    const runs = await listWeeklyRuns(pool, { beforeId: beforeId === 0n ? NEWEST : beforeId, limit: size + 1 });
    return responseOf(runs, size);
  }
  await accounts.findMaster({ login: masterLogin }, context);
  const last = beforeId === 0n ? undefined : await findRun(pool, beforeId);
  if (beforeId !== 0n && last === undefined) throw placeLost();
  const before = last?.periodEnd ?? END_OF_TIME;
  return responseOf(await listWeeklyRunsOf(pool, { masterLogin, before, limit: size + 1 }), size);
}

export async function getRun({ pool }: Pick<Deps, "pool">, { runId }: GetRunRequest): Promise<FeeRun> {
  const run = await findRun(pool, runId);
  if (run === undefined) throw runNotFound(runId);
  return runMessage(run);
}

export async function listRunPayments(
  { pool }: Pick<Deps, "pool">,
  { runId, afterPaymentId, limit }: ListRunPaymentsRequest,
): Promise<ListRunPaymentsResponse> {
  const after = afterPaymentId === 0n ? FIRST : await placeOf(pool, { runId, paymentId: afterPaymentId });
  const size = pageSize(limit);
  const rows = after === undefined ? [] : await listPaymentsOfRun(pool, { runId, after, limit: size + 1 });
  if (rows.length === 0 && (await findRun(pool, runId)) === undefined) throw runNotFound(runId);
  if (after === undefined) throw placeLost();
  const { items, hasMore } = pageOf(rows, size);
  return { items: items.map(paymentMessage), hasMore };
}

function runNotFound(runId: bigint) {
  return refuse("fee_run_not_found", `There is no fee run ${runId}.`);
}

function placeLost() {
  return refuse("invalid_cursor", LOST_PLACE.message, { errors: [LOST_PLACE] });
}

function responseOf(runs: readonly ListedRun[], size: number): ListRunsResponse {
  const { items, hasMore } = pageOf(runs, size);
  return { items: items.map(runMessage), hasMore };
}

function runMessage({ due, prepaid, collected, ...run }: ListedRun): FeeRun {
  return { ...run, due: usdToProto(due), prepaid: usdToProto(prepaid), collected: usdToProto(collected) };
}

function paymentMessage({ due, prepaid, amount, transferId, dealId, uniqueKey, ...payment }: PaymentOfRun): RunPayment {
  return {
    ...payment,
    due: usdToProto(due),
    prepaid: usdToProto(prepaid),
    amount: usdToProto(amount),
    transferId: transferId ?? 0n,
    dealId: dealId ?? 0n,
    cashflowUniqueKey: uniqueKey,
  };
}
