import type { CallContext } from "#kernel/contract/contract.ts";
import type { ReadStatementResponse, StatementPosition } from "#proto/pamm/platform/v1/platform.ts";
import { periodOf } from "../../schemas/history.ts";
import { lineItem } from "../../schemas/statement.ts";
import type { Deps } from "../../route.ts";
import type { CsvRow } from "../../wire/csv.ts";
import type { Pages } from "../../wire/json-array.ts";
import { moneyNumber } from "../../wire/money.ts";
import { timestamp } from "../../wire/timestamp.ts";

/** Rows of one call: few enough for the time of a call, and no more are in memory. */
const ROWS_PER_PAGE = 500;

const COLUMNS = [
  "number",
  "booked_at",
  "deal_at",
  "kind",
  "amount",
  "balance",
  "currency",
  "deal_id",
  "mt5_transfer_id",
  "operation_id",
  "comment",
];
const CURRENCY = "USD";

type Input = {
  readonly params: { readonly investor_login: string };
  readonly query: { readonly from: string; readonly to: string };
};

/** The statement of a whole period in slices: the balances are the first row and the last one. */
export const statementFile = {
  rows,
  name: ({ params, query }: Input): string =>
    `statement-${params.investor_login}-${dayOf(query.from)}-${dayOf(query.to)}.csv`,
  example: [
    COLUMNS.join(","),
    ",2026-01-01T00:00:00.000000,,opening_balance,,1000,USD,,,,",
    "12,2026-01-02T03:04:05.678000,2026-01-02T03:04:05.678000,deposit,250.5,1250.5,USD,1234567,77,0198c0de-0000-7000-8000-000000000001,CRM-1",
    ",2026-02-01T00:00:00.000000,,closing_balance,,1250.5,USD,,,,",
    "",
  ].join("\r\n"),
};

async function* rows(deps: Deps, { params, query }: Input, contextOfPage: () => CallContext): Pages<CsvRow> {
  const login = params.investor_login;
  await deps.accounts.findInvestor({ login }, contextOfPage());
  let after: StatementPosition | undefined;
  for (;;) {
    const request = { login, ...periodOf(query), after, limit: ROWS_PER_PAGE };
    const page = await deps.platform.readStatement(request, contextOfPage());
    const slice = [...(after === undefined ? beginning(query, page) : []), ...page.lines.map(lineRow)];
    if (!page.hasMore) return [...slice, balanceRow(query.to, "closing_balance", page.closing)];
    yield slice;
    after = page.closing;
  }
}

function beginning({ from }: Input["query"], { opening }: ReadStatementResponse): CsvRow[] {
  return [COLUMNS, balanceRow(from, "opening_balance", opening)];
}

function balanceRow(at: string, kind: string, position: StatementPosition | undefined): CsvRow {
  const booked = timestamp(periodOf({ from: at }).from);
  return [null, booked, null, kind, null, moneyNumber(position?.balance), CURRENCY, null, null, null, null];
}

function lineRow(line: ReadStatementResponse["lines"][number]): CsvRow {
  const { number, booked_at: bookedAt, deal_at: dealAt, kind, amount, balance, ...ids } = lineItem(line);
  const links = [ids.deal_id, ids.mt5_transfer_id, ids.operation_id, ids.comment];
  return [number, bookedAt, dealAt, kind, amount, balance, CURRENCY, ...links];
}

/** Only what a file name may have. */
function dayOf(instant: string): string {
  return timestamp(periodOf({ from: instant }).from).slice(0, "2026-01-31".length);
}
