import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { ReadStatementResponse, StatementLine, StatementPosition } from "#proto/pamm/platform/v1/platform.ts";
import { byCode, choice, model, named, nullableId, nullableString, setOf, string } from "../../fields/field.ts";
import { apart, at, ofWhole, optional, or, within } from "../../fields/message.ts";
import { limit500, opaquePage } from "../../fields/page.ts";
import { currencyReply, idReply, investorLoginReply, moneyReply, timeReply } from "../../fields/reply-fields.ts";
import { pageRoute } from "../../http/page-route.ts";
import type { Deps } from "../../http/route.ts";
import { investorLogin } from "../schemas/request-fields.ts";
import type { CsvRow } from "../../wire/csv.ts";
import type { Pages } from "../../wire/json-array.ts";
import { moneyNumber } from "../../wire/number.ts";
import { timestamp } from "../../wire/timestamp.ts";
import { calendarOf, dayKind, MAX_PERIOD_DAYS, periodErrors, periodFrom, periodOf, periodTo } from "./periods.ts";

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";

/** A deposit, a withdrawal, and the fees and debts that a withdrawal collects. */
const KEYS = [
  `^(?:funding:deposit|withdrawal):(${UUID})$`,
  `^fee:\\d+:\\d+:WD(${UUID})$`,
  `^fee:\\d+:\\d+:DEBT:withdrawal:(${UUID})$`,
].map((pattern) => new RegExp(pattern));

/** The operation that the key of a transfer names; undefined for a transfer of no operation, such as a weekly fee. */
export function operationOfKey(key: string): string | undefined {
  return KEYS.map((pattern) => pattern.exec(key)?.[1]).find((id) => id !== undefined);
}

const lineKind = setOf("StatementLineKind", "Why a balance changed.", {
  opening: "The balance of the account when this service began to manage it.",
  deposit: "A deposit.",
  withdrawal: "A withdrawal.",
  fee_debit: "A performance fee.",
  fee_credit: "A performance fee was credited.",
  result: "Allocated results of the Master; the list of allocations has each of them.",
  mirror: "Capital of Investors was mirrored.",
  exit: "Mirrored capital has left.",
  reversal: "An earlier movement was moved back.",
  external: "A movement that this service did not make, for example by a dealer.",
  trade: "A deal of a trader.",
  amendment: "The trading platform has amended or deleted a deal; manual review decides. Always 0.00.",
  correction:
    "By a decision of operators: the difference between the balance and this journal after deals were amended.",
});

const LineReply = model("StatementLine", "One movement of an account.", {
  ...within("entry", {
    number: idReply("Number of the movement in the journal of the account, without gaps.", 12),
  }),
  booked_at: at("loggedAt", timeReply("When it was booked: decides to which period it belongs.")),
  ...within("entry", {
    deal_at: timeReply("Time of the deal on the trading platform."),
    kind: named(lineKind.of("Why the balance changed.", "deposit"), byCode(lineKind.values, MovementKind)),
    amount: moneyReply("Change of the balance; signed.", 250.5),
  }),
  balance: moneyReply("Balance after it.", 1250.5),
  ...within("entry", {
    deal_id: nullableId({
      description: "Ticket of the deal; null for an opening or a correction.",
      example: 1_234_567,
    }),
    mt5_transfer_id: at(
      "transferId",
      nullableId({
        description:
          "Transfer id, the same as in the list of fee payments for a fee; null for a movement that this service did not make.",
        example: 77,
      }),
    ),
  }),
  operation_id: ofWhole(
    nullableString({
      description:
        "Operation that the movement belongs to, such as its deposit or withdrawal, also for a fee that a withdrawal collects; null for a weekly fee, a fee of an unassign, a result, and a movement that this service did not make.",
      example: "0198c0de-0000-7000-8000-000000000001",
    }),
    ({ entry, importedOperationId }: StatementLine) =>
      operationOfKey(entry?.key ?? "") ?? (importedOperationId === "" ? null : importedOperationId),
  ),
  comment: string({
    description: 'Comment of the deposit or withdrawal; `""` without one.',
    example: "CRM-1",
  }),
});

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
const statementFile = {
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

const DEFAULT_LIMIT = 100;

const format = choice(
  { json: "A JSON object, page by page.", csv: "A file of comma-separated values with the whole period." },
  { description: "Form of the answer; without it the header Accept decides.", example: "json" },
);

export const getStatement = pageRoute("GET /api/v1/info/investor/:investor_login/statement", {
  scope: "investors:read",
  summary: "Get an Investor's statement",
  description: `Every movement of the Investor's account that was booked in a period of at most ${MAX_PERIOD_DAYS} days, oldest first, each with the balance after it. On each page the opening balance and the amounts add up to the closing balance, which is the opening balance of the next page. What was booked is never changed, so the statement of a period that ended a minute ago stays the same; a deal that was found later is in the period in which it was booked. Capital that is mirrored to a Master or leaves one does not move the Investor's account. With \`format=csv\` or \`Accept: text/csv\` the answer is a file (RFC 4180) with the whole period; a file that ends without the row \`closing_balance\` is not complete.`,
  returns: "A page of the statement, or all of it as a file.",
  params: { investor_login: investorLogin },
  filter: { from: periodFrom, to: periodTo, day: or(dayKind, "utc") },
  limit: limit500(DEFAULT_LIMIT),
  options: { format: optional(apart(format)) },
  cursor: "pair",
  reply: model("Statement", "A page of the statement of an account.", {
    investor_login: investorLoginReply(),
    from: timeReply("Begin of the period."),
    to: timeReply("End of the period, exclusive."),
    currency: currencyReply,
    opening_balance: moneyReply("Balance before the first movement of this page.", 1000),
    closing_balance: moneyReply("Balance after the last movement of this page.", 1250.5),
    ...opaquePage(LineReply, "Oldest first."),
  }),
  refusals: ["investor_not_found"],
  file: statementFile,
  check: ({ query }, deps) => periodErrors(query, deps, MAX_PERIOD_DAYS),

  async call(deps, { investorLogin, limit, ...days }, place, context) {
    // With the balance, so that a page costs the same wherever it is.
    const after = place && { number: place[0], balance: moneyToProto(usd(place[1])) };
    const period = periodOf(days, deps);
    // Refuses a login that is no Investor, on the first page and on every other.
    await deps.accounts.findInvestor({ login: investorLogin }, context);
    const page = await deps.platform.readStatement({ login: investorLogin, ...period, after, limit }, context);
    return {
      investorLogin,
      ...period,
      openingBalance: page.opening?.balance,
      closingBalance: page.closing?.balance,
      items: page.lines,
      last: page.hasMore ? page.closing : undefined,
    };
  },
  next: ({ last }) => last && [last.number, moneyFromProto(last.balance).minor],
});
