import { choice, setOf } from "./field.ts";
import { always } from "./message.ts";

export const usDollar = setOf("Currency", "Currency of an amount.", { USD: "US dollar, the only currency." });

export const currencyReply = always(usDollar.known("Currency of the amounts.", "USD"), "USD");

export const engineSet = setOf("Engine", "Engine of an account.", {
  PAMM: "Percent allocation: results are divided by shares of the pool. The only engine.",
});

export const engineFilter = choice(
  { PAMM: "Accounts of this service.", ALL: "Accounts of every engine; the same, because PAMM is the only one." },
  { description: "Engine of the accounts.", example: "PAMM" },
);
