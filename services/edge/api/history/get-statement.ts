import { Type } from "typebox";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { choice, model } from "../../fields/field.ts";
import { currencyReply } from "../../fields/currency.ts";
import { apart, or } from "../../fields/message.ts";
import { dayKind, MAX_PERIOD_DAYS, periodErrors, periodFrom, periodOf, periodTo } from "../schemas/history.ts";
import { opaquePage } from "../schemas/page.ts";
import { investorLoginReply, moneyReply, timeReply } from "../../fields/reply-fields.ts";
import { investorLogin, limit500 } from "../schemas/request-fields.ts";
import { LineReply } from "../schemas/statement.ts";
import { pageRoute } from "../../http/page-route.ts";
import { statementFile } from "./statement-file.ts";

const DEFAULT_LIMIT = 100;

const format = choice(
  { json: "A JSON object, page by page.", csv: "A file of comma-separated values with the whole period." },
  { description: "Form of the answer; without it the header Accept decides.", example: "json" },
);

export const getStatement = pageRoute({
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
  filter: { from: periodFrom, to: periodTo, day: or(dayKind, "utc") },
  limit: limit500(DEFAULT_LIMIT),
  options: { format: Type.Optional(apart(format)) },
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
