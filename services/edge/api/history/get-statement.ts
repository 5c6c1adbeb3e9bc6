import { Type } from "typebox";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { ReadStatementResponse, StatementPosition } from "#proto/pamm/platform/v1/platform.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { choice, model } from "../../fields/field.ts";
import { currencyReply } from "../../fields/currency.ts";
import {
  dayKind,
  type Instants,
  MAX_PERIOD_DAYS,
  pageOfPeriod,
  periodErrors,
  periodFrom,
  periodOf,
  periodTo,
} from "../schemas/history.ts";
import { opaquePage } from "../schemas/page.ts";
import { investorLoginReply, moneyReply, timeReply } from "../schemas/reply-fields.ts";
import { investorLogin, limit500, opaqueCursor } from "../schemas/request-fields.ts";
import { LineReply } from "../schemas/statement.ts";
import { type Deps, route } from "../../http/route.ts";
import { moneyNumber } from "../../wire/money.ts";
import { timestamp } from "../../wire/timestamp.ts";
import { statementFile } from "./statement-file.ts";

const DEFAULT_LIMIT = 100;

const format = choice(
  { json: "A JSON object, page by page.", csv: "A file of comma-separated values with the whole period." },
  { description: "Form of the answer; without it the header Accept decides.", example: "json" },
);

export const getStatement = route({
  operationId: "getStatement",
  method: "GET",
  url: "/api/v1/info/investor/:investor_login/statement",
  scope: "investors:read",
  class: "read",
  tag: "Investors",
  summary: "Get an Investor's statement",
  description: `Every movement of the Investor's account that was booked in a period of at most ${MAX_PERIOD_DAYS} days, oldest first, each with the balance after it. On each page the opening balance and the amounts add up to the closing balance, which is the opening balance of the next page. What was booked is never changed, so the statement of a period that ended a minute ago stays the same; a deal that was found later is in the period in which it was booked. Capital that is mirrored to a Master or leaves one does not move the Investor's account. With \`format=csv\` or \`Accept: text/csv\` the answer is a file (RFC 4180) with the whole period; a file that ends without the row \`closing_balance\` is not complete.`,
  returns: "A page of the statement, or all of it as a file.",
  params: Type.Object({ investor_login: investorLogin }),
  query: Type.Object({
    from: periodFrom,
    to: periodTo,
    day: Type.Optional(dayKind),
    limit: limit500(DEFAULT_LIMIT),
    cursor: Type.Optional(opaqueCursor),
    format: Type.Optional(format),
  }),
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
  check: ({ params, query }, deps) => [
    ...periodErrors(query, deps, MAX_PERIOD_DAYS),
    ...pageOfPeriod(deps.cursors.pair, "statement", params.investor_login, query).errors,
  ],

  async handle(deps, { params, query }, context) {
    const place = pageOfPeriod(deps.cursors.pair, "statement", params.investor_login, query);
    // With the balance, so that a page costs the same wherever it is.
    const after = place.after && { number: place.after[0], balance: moneyToProto(usd(place.after[1])) };
    const limit = Number(query.limit ?? DEFAULT_LIMIT);
    const period = periodOf(query, deps);
    const page = await readPage(deps, { login: params.investor_login, period, after, limit }, context);
    return {
      investor_login: params.investor_login,
      from: timestamp(period.from),
      to: timestamp(period.to),
      currency: "USD",
      opening_balance: moneyNumber(page.opening?.balance),
      closing_balance: moneyNumber(page.closing?.balance),
      items: page.lines.map(LineReply.of),
      ...place.next(page.hasMore && page.closing ? placeOf(page.closing) : undefined),
    };
  },
});

type Page = {
  readonly login: string;
  readonly period: Instants;
  readonly after: StatementPosition | undefined;
  readonly limit: number;
};

/** Refuses a login that is no Investor, on the first page and on every other. */
async function readPage(
  { accounts, platform }: Deps,
  { login, period, after, limit }: Page,
  context: CallContext,
): Promise<ReadStatementResponse> {
  await accounts.findInvestor({ login }, context);
  return await platform.readStatement({ login, ...period, after, limit }, context);
}

function placeOf({ number, balance }: StatementPosition): readonly [bigint, bigint] {
  return [number, moneyFromProto(balance).minor];
}
