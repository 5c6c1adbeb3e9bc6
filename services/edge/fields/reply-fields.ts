import type { Money } from "#proto/pamm/common/v1/money.ts";
import { e8Number, moneyNumber, moneyText } from "../wire/number.ts";
import { nullableTimestamp, timestamp } from "../wire/timestamp.ts";
import { type About, choice, decimal, integer, nullableDecimal, nullableString, setOf, string } from "./field.ts";
import { always, type Shown, shown } from "./message.ts";

export const usDollar = setOf("Currency", "Currency of an amount.", { USD: "US dollar, the only currency." });

export const currencyReply = always(usDollar.known("Currency of the amounts.", "USD"), "USD");

const engineSet = setOf("Engine", "Engine of an account.", {
  PAMM: "Percent allocation: results are divided by shares of the pool. The only engine.",
});

export const engineReply = always(engineSet.of("Engine of the account.", "PAMM"), "PAMM");

export const engineFilter = choice(
  { PAMM: "Accounts of this service.", ALL: "Accounts of every engine; the same, because PAMM is the only one." },
  { description: "Engine of the accounts.", example: "PAMM" },
);

export const idReply = (description: string, example = 7) => integer({ description, example });
export const ticketReply = (description: string, example = 1_234_567) => integer({ description, example });

export const LOGIN = { shown: { pattern: "^[1-9][0-9]{0,18}$" } };

/** Each role has a login of its own in the examples, because a login has one role. */
export const masterLoginReply = (description = "Trading login of the Master."): Shown<string, string> =>
  string({ description, example: "3000001", ...LOGIN });
export const paymentLoginReply = (description = "Login of the payment account."): Shown<string, string> =>
  string({ description, example: "3000002", ...LOGIN });
export const investorLoginReply = (description = "Login of the Investor."): Shown<string, string> =>
  string({ description, example: "3000003", ...LOGIN });

/** What is moved, held or counted. */
export const moneyReply = (description: string, example = 250.5) =>
  shown(decimal({ description, example }), moneyNumber);

/** As moneyReply; null without an amount. */
export const nullableMoneyReply = (description: string, example: number | null = 250.5) =>
  shown(nullableDecimal({ description, example }), (amount: Money | undefined) =>
    amount === undefined ? null : moneyNumber(amount),
  );

/** Of a pool. */
export const unitsReply = (description: string, example = 1000) =>
  shown(decimal({ description, example }), (units: string) => e8Number(units));

const TWO_DECIMALS = { shown: { pattern: "^-?[0-9]+\\.[0-9]{2}$" } };

/** What is compared or decided upon. */
export const decimalReply = (description: string): Shown<string, Money | undefined> =>
  shown(string({ description, example: "100.50", ...TWO_DECIMALS }), moneyText);

export const nullableDecimalReply = (description: string, example: string | null = "100.50") =>
  shown(nullableString({ description, example, ...TWO_DECIMALS }), (amount: Money | undefined) =>
    amount === undefined ? null : moneyText(amount),
  );

const TIME = { pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}$" };

export const timeReply = (description: string): Shown<string, Date | undefined> =>
  shown(string({ description: `${description} UTC.`, example: "2026-01-02T03:04:05.678000", shown: TIME }), timestamp);

export const nullableTimeReply = (description: string): Shown<string | null, Date | null | undefined> =>
  shown(nullableString({ description: `${description} UTC.`, example: null, shown: TIME }), nullableTimestamp);

export const nameReply = string({ description: "Alias, the visible name.", example: "Alpha Strategy" });
export const investorNameReply = string({ description: "Alias, the visible name.", example: "Ada" });

export const emailReply = nullableString({
  description: "E-mail address of the account holder; null when none was given.",
  example: "ada@example.com",
});

/** A text that was never given is empty. */
const givenText = (about: About) => shown(string(about), (given: string | undefined) => given ?? "");

export const strategyNameReply = givenText({
  description: "Short commercial name of the strategy; empty when none was given.",
  example: "Alpha",
});

export const strategyReply = givenText({
  description: "Description of the strategy; empty when none was given.",
  example: "Trend following.",
});

export const secretReply = (description: string, about: Partial<About> = {}) =>
  string({ description: `Secret. ${description}`, example: "Main-1234", ...about });

export const nullableSecretReply = (description: string) =>
  nullableString({
    description: `Secret. ${description} Null for an account that was registered rather than created.`,
    example: "Main-1234",
  });
