import { badAnswer } from "./errors.ts";
import type { Fields } from "./fields.ts";

/** The platform counts unsigned; a login is text for us, always in its shortest form. */
const LOGIN = /^[1-9]\d{0,19}$/;

/** They all stand in one URL. */
export const MAX_LOGINS_PER_CALL = 100;

/** The login that a record speaks of. */
export function loginOf(fields: Fields): string {
  const login = fields.text("Login");
  if (!LOGIN.test(login)) throw badAnswer("the platform's answer has a Login that cannot be read");
  return login;
}

/** A record of another login than was asked for is no answer, however good it looks. */
export function requireLogin(fields: Fields, asked: string): void {
  if (loginOf(fields) !== asked) throw badAnswer("the platform answers about another login");
}

const MAX_TICKET = 2n ** 63n - 1n;

/** Ticket of a deal, an order or a position: a positive int64, as everybody behind us takes it. */
export function ticketOf(fields: Fields, name: string): bigint {
  const ticket = fields.integer(name);
  if (ticket <= 0n || ticket > MAX_TICKET) throw badAnswer(`the platform's answer has a ${name} that is no ticket`);
  return ticket;
}
