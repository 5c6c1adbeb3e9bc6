import { MAX_COMMENT_LENGTH, MAX_LEVERAGE } from "#kernel/values/limits.ts";
import { MAX_PLATFORM_TEXT_LENGTH } from "#kernel/values/platform-text.ts";
import { MAX_GROUP_LENGTH, MAX_NAME_LENGTH, MAX_STRATEGY_LENGTH, MAX_WAIT_SECONDS } from "../../fields/checks.ts";
import { bool, INT64, read, text, textOrNumber } from "../../fields/field.ts";
import { apart, at, or, type Sent } from "../../fields/message.ts";
import { LOGIN, usDollar } from "../../fields/reply-fields.ts";
import { moneyOf, ratePpm } from "../../wire/number.ts";

/** JSON types that are accepted beside the one that generated clients send. */
const ALSO = (type: string) => ({ "x-also-accepts": [type] });

/** The logins of the examples: a Master, its payment account and an Investor. */
const LOGINS = { master: "3000001", payment: "3000002", investor: "3000003" } as const;

/** The offset is optional, so it is not the `date-time` of RFC 3339: a client that validates must not refuse what it has read. */
export const INSTANT = {
  pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?$",
};

export const loginField = (description: string, role: keyof typeof LOGINS): Sent<string, string> =>
  text("login", { description, example: LOGINS[role], ...LOGIN });

export const masterLogin = loginField("Trading login of the Master.", "master");
export const investorLogin = loginField("Login of the Investor.", "investor");

export const logins = read(
  text("logins", {
    description: "1 to 100 different logins of Masters, payment accounts or Investors, separated by commas.",
    example: `${LOGINS.investor},${LOGINS.master}`,
    shown: { pattern: "^[1-9][0-9]{0,18}(,[1-9][0-9]{0,18}){0,99}$" },
  }),
  (names) => names.split(","),
);

/** Of a path: an id of this service. */
export const id = (description: string, example: number): Sent<string, bigint> =>
  read(text("id", { description, example, shown: { type: "integer", ...INT64, minimum: 0 } }), BigInt);

export const masterId = id("Internal integer id of the Master; not its login.", 7);

export const investorId = id("Internal integer id of the Investor; not its login.", 8);

export const feeVersionId = id("Id of the version, from the listing of versions.", 17);

export const feePaymentId = id("Id of the payment, from the listing of payments.", 21);

export const feeRunId = id("Id of the run, from the listing of runs or from a payment.", 12);

export const aliasField = (description: string, example: string): Sent<string, string> =>
  text("name", { description, example, shown: { minLength: 1, maxLength: MAX_NAME_LENGTH } });

const OWNER_NAME = { minLength: 1, maxLength: MAX_PLATFORM_TEXT_LENGTH };
const ON_PLATFORM = "It is sent to the trading platform as it is, and may not have `=`, `|` and `\\`.";

export const firstName = text("owner_name", {
  description: `First name of the account holder. ${ON_PLATFORM}`,
  example: "Ada",
  shown: OWNER_NAME,
});

export const lastName = text("owner_name", {
  description: `Last name of the account holder. ${ON_PLATFORM}`,
  example: "Lovelace",
  shown: OWNER_NAME,
});

export const strategyName = text("strategy_name", {
  description: "Short commercial name of the strategy.",
  example: "Alpha",
  shown: { maxLength: MAX_NAME_LENGTH },
});

export const strategy = text("strategy", {
  description: "Description of the strategy. It may have lines: CR LF and CR become LF.",
  example: "Trend following.",
  shown: { maxLength: MAX_STRATEGY_LENGTH },
});

export const username = text("email", {
  description: "E-mail address of the account holder, without `=` and `|`. Need not be unique.",
  example: "ada@example.com",
  shown: { format: "email", maxLength: MAX_PLATFORM_TEXT_LENGTH },
});

export const platformGroup = (example: string): Sent<string, string> =>
  text("group", {
    description: "Group on the trading platform; it must be one of the groups that the operator allows for this role.",
    example,
    shown: { minLength: 1, maxLength: MAX_GROUP_LENGTH },
  });

const DEFAULT_LEVERAGE = 100;

const leverageText = textOrNumber("leverage", {
  description: `Leverage, 1 to ${MAX_LEVERAGE}, as digits; a JSON integer is accepted too. The operator may set a lower limit, also for a group.`,
  example: String(DEFAULT_LEVERAGE),
  default: String(DEFAULT_LEVERAGE),
  shown: { type: "string", pattern: "^[0-9]{1,4}$", ...ALSO("integer") },
});
export const leverage = or(read(leverageText, Number), DEFAULT_LEVERAGE);

const MIN_DEPOSIT = "Minimum Investor balance for an assignment in USD, 0 or more, at most two decimals.";

/** Where the specification has a string. */
export const minDeposit = read(
  textOrNumber("min_deposit", {
    description: `${MIN_DEPOSIT} A JSON number is accepted too.`,
    example: "100.50",
    shown: { type: "string", pattern: "^[0-9]+(\\.[0-9]{1,2})?$", ...ALSO("number") },
  }),
  moneyOf,
);

/** Where the specification has a number. */
export const minDepositNumber = read(
  textOrNumber("min_deposit", {
    description: `${MIN_DEPOSIT} A string is accepted too.`,
    example: 100.5,
    shown: { type: "number", minimum: 0, ...ALSO("string") },
  }),
  moneyOf,
);

export const amount = read(
  text("amount", {
    description: "Amount, 0.01 to 1000000000.00, at most two decimals; digits with at most one point.",
    example: "250.50",
    shown: { pattern: "^[0-9]+(\\.[0-9]{1,2})?$" },
  }),
  moneyOf,
);

/** There is only one, so no message has it. */
export const currency = apart(
  text("currency", {
    description: "Currency of the amount.",
    example: "USD",
    default: "USD",
    shown: usDollar.shown,
  }),
);

export const comment = (standard: string) =>
  or(
    text("comment", {
      description:
        "Reference of the caller, stored in full; the comment on the trading platform has as much of it as fits, in ASCII letters.",
      example: "CRM-2026-0001",
      default: standard,
      shown: { minLength: 1, maxLength: MAX_COMMENT_LENGTH },
    }),
    standard,
  );

/** In the message, parts per million. */
export const rate = at(
  "ratePpm",
  read(
    textOrNumber("rate", {
      description:
        "Performance fee, 0 to 1, at most six decimals; 0.30 means 30 %. A string, as in responses, is accepted too.",
      example: 0.3,
      shown: { type: "number", minimum: 0, maximum: 1, ...ALSO("string") },
    }),
    ratePpm,
  ),
);

/** Of the specification: an assign has to say it, an update may leave it out. */
export const enabled = bool({
  description: "Whether performance fees are collected from this Investor.",
  example: true,
});

export const acceptingInvestors = bool({
  description: "Whether Investors can be assigned to the Master; true for a new Master.",
  example: false,
});

export const operationId = text("operation_id", {
  description: "Value of X-Operation-Id in the response to the command.",
  example: "0198c0de-0000-7000-8000-000000000001",
  shown: { format: "uuid" },
});

export const aboutOperationFilter = text("operation_id", {
  description: "Only what is about this operation: it names the operation, one of its legs, or the deal of a leg.",
  example: "0198c0de-0000-7000-8000-000000000001",
  shown: { format: "uuid" },
});

export const ticketFilter = text("id", {
  description:
    "Ticket of a deal on the trading platform: only operations that have made it, by a movement of their own, by a fee that was collected for them, or by a mirror that carries them.",
  example: 1234567,
  shown: { type: "integer", ...INT64, minimum: 0 },
});

export const commentFilter = text("comment_filter", {
  description: "Comment of the request, exactly as it was sent.",
  example: "CRM-2026-0001",
  shown: { minLength: 1, maxLength: MAX_COMMENT_LENGTH },
});

export const wait = (final: string) =>
  apart(
    text("wait", {
      description: `Seconds to wait, 0 to ${MAX_WAIT_SECONDS}. The response is sent as soon as ${final}, or when the time is up.`,
      example: 10,
      default: 0,
      shown: { type: "integer", minimum: 0, maximum: MAX_WAIT_SECONDS },
    }),
  );
