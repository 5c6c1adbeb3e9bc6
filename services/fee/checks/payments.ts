import { fragment, type Fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import { abs, type Check, described, type Finding } from "#kernel/reconcile/check.ts";
import type { OwnedLeg } from "#kernel/reconcile/find-transfers.ts";
import { selectIds } from "#kernel/reconcile/table-walk.ts";
import { walkTables } from "#kernel/reconcile/walk.ts";
import { MAX_AMOUNT } from "#kernel/values/money.ts";
import type { Deps } from "../deps.ts";

const CHECK = described("fee_payments");
const TABLES = { payment: { name: "fee_payment", rows: fragment`fee_payment`, id: fragment`id` } };
const TWICE = "twice";
const DEBT = "debt";

/**
 * fee_payments. No Investor pays twice for one week, and the payment of a debt collects exactly what earlier payments have left. What is due of
 * a payment, and what it collects, is committed with it and never changes.
 */
export function payments({ pool }: Pick<Deps, "pool">): Check {
  return {
    ...CHECK,
    async run(request) {
      return await walkTables(
        {
          pool,
          tables: TABLES,
          everyMs: CHECK.everyMs,
          async examine(db, { payment }, { broken }) {
            const ids = selectIds(payment, [...broken(TWICE), ...broken(DEBT)]);
            return { findings: [...(await listPaidTwice(db, ids)), ...(await listWrongDebts(db, ids))] };
          },
        },
        request,
      );
    },
  };
}

type Row = {
  readonly id: bigint;
  readonly runId: bigint;
  readonly master: string;
  readonly investor: string;
  readonly dueMinor: bigint;
  readonly deal: bigint | null;
};

const ROW = fragment`payment.id, payment.run_id as "runId", payment.master_login as master, payment.investor_login as investor,
               payment.due_minor as "dueMinor", payment.deal_id as deal`;

/** Fees of weekly runs in which the Investor has an earlier one. A debt that is collected in the run is not a fee. */
async function listPaidTwice(db: Queryable, ids: Fragment): Promise<Finding[]> {
  const rows = await many<Row & { readonly earlierId: bigint }>(
    db,
    sql`select ${ROW}, min(earlier.id) as "earlierId"
        from fee_payment as payment
             join fee_run on fee_run.id = payment.run_id and fee_run.kind = 'WEEKLY'
             join fee_payment as earlier on earlier.run_id = payment.run_id and earlier.investor_login = payment.investor_login
                                        and earlier.master_login = payment.master_login and earlier.kind = 'PF'
                                        and earlier.id < payment.id
        where payment.id in ${ids} and payment.kind = 'PF'
        group by payment.id
        order by payment.id`,
  );
  return rows.map((row) => ({
    ...aboutPayment(row),
    key: `${TWICE}:${row.id}`,
    atRiskMinor: row.dueMinor,
    message: `Investor ${row.investor} has more than one fee in run ${row.runId}.`,
    evidence: { payments: [String(row.earlierId), String(row.id)] },
  }));
}

/** Payments of debts that differ from the sum of the parts which they have taken over. */
async function listWrongDebts(db: Queryable, ids: Fragment): Promise<Finding[]> {
  const rows = await many<Row & { readonly leftMinor: bigint }>(
    db,
    sql`select ${ROW}, coalesce(sum(part.due_minor - part.prepaid_minor - part.amount_minor), 0)::bigint as "leftMinor"
        from fee_payment as payment
             left join fee_payment as part on part.taken_by_id = payment.id
        where payment.id in ${ids} and payment.kind = 'PF_DEBT'
        group by payment.id
        having payment.due_minor <> coalesce(sum(part.due_minor - part.prepaid_minor - part.amount_minor), 0)
        order by payment.id`,
  );
  return rows.map((row) => ({
    ...aboutPayment(row),
    key: `${DEBT}:${row.id}`,
    atRiskMinor: abs(row.dueMinor - row.leftMinor),
    message: `Payment ${row.id} collects another amount than earlier payments of Investor ${row.investor} have left.`,
    evidence: { due_minor: String(row.dueMinor), left_minor: String(row.leftMinor) },
  }));
}

function aboutPayment({ investor, master, deal }: Row): Pick<Finding, "login" | "masterLogin" | "dealIds"> {
  return { login: investor, masterLogin: master, dealIds: deal === null ? [] : [deal] };
}

/** Debit and credit of the payments with these keys, as they are requested: at most the largest transfer. A check of platform asks for them. */
export async function listOwnedLegs(db: Queryable, keys: readonly string[]): Promise<OwnedLeg[]> {
  return await many<OwnedLeg>(
    db,
    sql`select key, leg.login, leg.kind, leg.sign * least(due_minor - prepaid_minor, ${MAX_AMOUNT.minor}::bigint) as "amountMinor"
        from fee_payment
        cross join lateral (
          values (1, investor_login, 'fee_debit', -1), (2, payment_account_login, 'fee_credit', 1)
        ) as leg (ordinal, login, kind, sign)
        where key = any (${keys}::text[])
        order by id, leg.ordinal`,
  );
}
