import type { CallContext } from "#kernel/contract/contract.ts";
import { messageOf, type RowOf } from "#kernel/contract/row-message.ts";
import { type Fragment, fragment, many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import { belowId, LOST_PLACE, pageOf, pageSize } from "#kernel/values/page.ts";
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

type Reads = { readonly pool: Queryable };

const END_OF_TIME = new Date("9999-01-01T00:00:00Z");

/** Weekly runs, the newest first: of all Masters by id; of one by week, as its weeks are decided one after the other. */
export async function listRuns(
  { pool, accounts }: Reads & Pick<Deps, "accounts">,
  { masterLogin, beforeId, limit }: ListRunsRequest,
  context: CallContext,
): Promise<ListRunsResponse> {
  if (masterLogin !== "") await accounts.findMaster({ login: masterLogin }, context);
  const [last] = beforeId === 0n ? [] : await readRuns(pool, isRun(beforeId));
  if (masterLogin !== "" && beforeId !== 0n && last === undefined) throw placeLost();
  const size = pageSize(limit);
  const page =
    masterLogin === ""
      ? fragment`run.id < ${belowId(beforeId)} order by run.id desc`
      : fragment`run."masterLogin" = ${masterLogin} and run."periodEnd" < ${last?.periodEnd ?? END_OF_TIME} order by run."periodEnd" desc`;
  return pageOf(await readRuns(pool, fragment`run.kind = 'WEEKLY' and ${page} limit ${size + 1}`), size);
}

export async function getRun({ pool }: Reads, { runId }: GetRunRequest): Promise<FeeRun> {
  const [run] = await readRuns(pool, isRun(runId));
  if (run === undefined) throw runNotFound(runId);
  return run;
}

const isRun = (id: bigint): Fragment => fragment`run.id = ${id}`;

async function readRuns(db: Queryable, which: Fragment): Promise<FeeRun[]> {
  const rows = await many<RowOf<FeeRun, "due" | "prepaid" | "collected">>(
    db,
    sql`select run.*, sum.*
        from fee_run_row run
        cross join lateral (
          select count(*) as payments, coalesce(sum(due_minor), 0)::bigint as due, coalesce(sum(prepaid_minor), 0)::bigint as prepaid,
                 coalesce(sum(amount_minor) filter (where payment.status = 'EXECUTED'), 0)::bigint as collected,
                 count(*) filter (where payment.status in ('PENDING', 'EXECUTING'))::integer as "openCount",
                 count(*) filter (where payment.status = 'EXECUTED')::integer as "executedCount",
                 count(*) filter (where payment.status in ('DEFERRED', 'REVERSED'))::integer as "failedCount"
          from fee_payment payment
          where payment.run_id = run.id
        ) as sum
        where ${which}`,
  );
  return rows.map((row) => messageOf(row, "due", "prepaid", "collected"));
}

/** In every status, by Investor and key: as the unique index of a run's payments has them. */
export async function listRunPayments(
  { pool }: Reads,
  { runId, afterPaymentId, limit }: ListRunPaymentsRequest,
): Promise<ListRunPaymentsResponse> {
  const after = afterPaymentId === 0n ? FIRST : await findPlace(pool, runId, afterPaymentId);
  const size = pageSize(limit);
  const rows = after === undefined ? [] : await readPayments(pool, runId, after, size + 1);
  if (rows.length === 0) await getRun({ pool }, { runId });
  if (after === undefined) throw placeLost();
  return pageOf(rows, size);
}

type Place = { readonly investor: string; readonly master: string; readonly suffix: string };

const FIRST: Place = { investor: "", master: "", suffix: "" };

/** Where a page after this payment begins. */
async function findPlace(db: Queryable, runId: bigint, paymentId: bigint): Promise<Place | undefined> {
  return await maybeOne<Place>(
    db,
    sql`select investor_login as investor, master_login as master, suffix
        from fee_payment
        where id = ${paymentId} and run_id = ${runId}`,
  );
}

async function readPayments(
  db: Queryable,
  runId: bigint,
  { investor, master, suffix }: Place,
  limit: number,
): Promise<RunPayment[]> {
  const rows = await many<RowOf<RunPayment, "due" | "prepaid" | "amount">>(
    db,
    sql`select id, investor_id as "investorId", investor_login as "investorLogin", kind, status, due_minor as due,
               prepaid_minor as prepaid, amount_minor as amount, coalesce(transfer_id, 0) as "transferId",
               coalesce(deal_id, 0) as "dealId", executed_at as "executedAt", unique_key as "cashflowUniqueKey",
               created_at as "createdAt"
        from fee_payment
        where run_id = ${runId} and (investor_login, master_login, suffix) > (${investor}::text, ${master}::text, ${suffix}::text)
        order by investor_login, master_login, suffix
        limit ${limit}`,
  );
  return rows.map((row) => messageOf(row, "due", "prepaid", "amount"));
}

function runNotFound(runId: bigint) {
  return refuse("fee_run_not_found", `There is no fee run ${runId}.`);
}

function placeLost() {
  return refuse("invalid_cursor", LOST_PLACE.message, { errors: [LOST_PLACE] });
}
