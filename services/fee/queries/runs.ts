import type { CallContext } from "#kernel/contract/contract.ts";
import { usdToProto } from "#kernel/contract/money.ts";
import { LOST_PLACE, pageOf, pageSize } from "#kernel/values/page.ts";
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
  NEWEST,
  type PaymentOfRun,
  placeOf,
} from "../store/runs.ts";

const FIRST = ["", "", ""] as const;
const END_OF_TIME = new Date("9999-01-01T00:00:00Z");

export async function listRuns(
  { pool, accounts }: Pick<Deps, "pool" | "accounts">,
  { masterLogin, beforeId, limit }: ListRunsRequest,
  context: CallContext,
): Promise<ListRunsResponse> {
  if (masterLogin !== "") await accounts.findMaster({ login: masterLogin }, context);
  const last = beforeId === 0n ? undefined : await findRun(pool, beforeId);
  if (masterLogin !== "" && beforeId !== 0n && last === undefined) throw placeLost();
  const before = { id: beforeId === 0n ? NEWEST : beforeId, periodEnd: last?.periodEnd ?? END_OF_TIME };
  const size = pageSize(limit);
  const { items, hasMore } = pageOf(await listWeeklyRuns(pool, { masterLogin, before, limit: size + 1 }), size);
  return { items: items.map(runMessage), hasMore };
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
