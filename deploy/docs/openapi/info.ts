import packageFile from "#package" with { type: "json" };
import type { TAGS } from "../../../services/edge/http/route.ts";
import { SCOPE_MEANINGS } from "../../../services/edge/wire/scopes.ts";

const INTRODUCTION = `HTTP interface through which a CRM manages Masters, Investors, subscriptions, capital movements and performance fees.

**Authentication.** Send \`Authorization: Bearer <API key>\`. \`x-required-scopes\` lists the scopes of an operation; one of them is enough.

**Answers.** Success is 200, or 202 for a command that waits because its request allowed it (\`on_blocked=queue\`), in JSON whatever \`Accept\` says, except for a statement as CSV. A body has exactly the documented members, and each is always present; what goes beyond is in headers. Errors are problem bodies (RFC 9457) with a stable \`code\`; \`type\` is the page that explains it. Ignore members, headers and codes that you do not know.

**Identifiers.** A login identifies an account on the trading platform and is text. Ids and tickets are integers of 64 bits: they may exceed 2^53, so read them as text or as big integers where your language reads JSON numbers as floats.

**Time.** Answers have UTC without an offset and with six decimals, \`2026-01-02T03:04:05.678000\`. That is ISO 8601 but not the \`date-time\` of RFC 3339, which needs an offset, so no field has that format. Requests may have an offset; without one the time is UTC.

**Money.** US dollars, exact to the cent, in one of two notations. What is moved, held or counted is a JSON number with at most two decimals. What is compared or decided upon (minimum deposits that were applied, pending fees and the explanation of fees, balances before a withdrawal, amounts under review, and the facts of problems) is text with exactly two decimals, and so are the amounts of events. Members of \`evidence\` whose names end in \`_minor\` are whole cents as text.`;

export const INFO = {
  title: "PAMM Integration Service",
  version: packageFile.version,
  summary: "Masters, Investors, subscriptions, capital and performance fees for a CRM.",
  description: INTRODUCTION,
  contact: { name: "The operator of this installation" },
  license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
} as const;

const SCOPE_LIST = Object.entries(SCOPE_MEANINGS).map(([scope, meaning]) => `- \`${scope}\`: ${meaning}`);

export const SECURITY_SCHEMES = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    description: `An API key. Operators create it with the scopes that it needs; it is shown once. \`x-required-scopes\` of an operation lists those of which it needs one.\n\n${SCOPE_LIST.join("\n")}`,
  },
};

const TAG_DESCRIPTIONS: Readonly<Record<(typeof TAGS)[number], string>> = {
  Masters: "Accounts that trade the pooled capital of their Investors, each with a payment account for its fees.",
  Investors: "Accounts that hold the capital of customers.",
  Subscriptions: "Which Investor follows which Master. Leaving takes seconds: poll, or use `wait`.",
  Funds: "Deposits to and withdrawals from Investors, and balances. The Master follows within seconds.",
  Operations: "What became of a command, also when its answer was lost.",
  "Performance fees": "Rates of Investors, and what was paid to the payment accounts.",
  Reconciliation: "Whether books and trading platform agree, and where they do not.",
  "API keys": "What the key of a request permits.",
  Events: "What has happened, in one order, to be read by a program that keeps a copy up to date.",
  Webhooks: "Endpoints of yours that are sent events, signed by the Standard Webhooks convention.",
  Reviews: "Cases in which operators decide. Each decision needs the API keys of two owners.",
};

export const TAG_LIST = Object.entries(TAG_DESCRIPTIONS).map(([name, description]) => ({ name, description }));
