import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { ReadStatementResponse, StatementPosition } from "#proto/pamm/platform/v1/platform.ts";
import { calendarOf, periodOf } from "../schemas/history.ts";
import { LineReply } from "../schemas/statement.ts";
import type { Deps } from "../../http/route.ts";
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
  readonly query: { readonly from: string; readonly to: string; readonly day?: "utc" | "server" };
};

/** The statement of a whole period in slices: the balances are the first row and the last one. */
export const statementFile = {
  rows,
  name({ params, query }: Input, deps: Deps): string {
    const { dayOf } = calendarOf(query.day, deps);
    const { from, to } = periodOf(query, deps);
    assert(from !== undefined && to !== undefined, "a statement has a period");
    return `statement-${params.investor_login}-${dayOf(from)}-${dayOf(to)}.csv`;
  },
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
  const period = periodOf(query, deps);
  let after: StatementPosition | undefined;
  for (;;) {
    const request = { login, ...period, after, limit: ROWS_PER_PAGE };
    const page = await deps.platform.readStatement(request, contextOfPage());
    const slice = [...(after === undefined ? beginning(period.from, page) : []), ...page.lines.map(lineRow)];
    if (!page.hasMore) return [...slice, balanceRow(period.to, "closing_balance", page.closing)];
    yield slice;
    after = page.closing;
  }
}

function beginning(from: Date | undefined, { opening }: ReadStatementResponse): CsvRow[] {
  return [COLUMNS, balanceRow(from, "opening_balance", opening)];
}

function balanceRow(at: Date | undefined, kind: string, position: StatementPosition | undefined): CsvRow {
  return [null, timestamp(at), null, kind, null, moneyNumber(position?.balance), CURRENCY, null, null, null, null];
}

function lineRow(line: ReadStatementResponse["lines"][number]): CsvRow {
  const { number, booked_at: bookedAt, deal_at: dealAt, kind, amount, balance, ...ids } = LineReply.of(line);
  const links = [ids.deal_id, ids.mt5_transfer_id, ids.operation_id, ids.comment];
  return [number, bookedAt, dealAt, kind, amount, balance, CURRENCY, ...links];
}
