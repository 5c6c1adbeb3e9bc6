import { type Answer, type Json, memberOf } from "./http.ts";
import { hold } from "./outcome.ts";

/** Checks one value; `what` names it in the table. */
export type Check = { readonly what: string; readonly accepts: (value: Json | undefined) => boolean };
export type Members = Readonly<Record<string, Check>>;

const is = (what: string, accepts: Check["accepts"]): Check => ({ what, accepts });
const text = (what: string, pattern: RegExp): Check =>
  is(what, (value) => typeof value === "string" && pattern.test(value));

export const anyText = is("string", (value) => typeof value === "string");
export const filled = text("string", /./);
export const bool = is("boolean", (value) => typeof value === "boolean");
export const integer = is("integer", (value) => typeof value === "bigint");
export const number = is("number", (value) => typeof value === "bigint" || typeof value === "number");
export const login = text("login as string", /^[1-9]\d*$/);
export const decimalText = text("decimal as string", /^-?\d+(\.\d+)?$/);
export const rateText = text("decimal as string with six decimals", /^[01]\.\d{6}$/);
export const timestamp = text("ISO 8601 without offset", /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?$/);
export const secret = text("password", /^\S{6,}$/);
export const nothing = is("null", (value) => value === null);
export const list = is("array", Array.isArray);
export const object = is("object", (value) => typeof value === "object" && value !== null);

export function exactly(expected: Json): Check {
  return is(show(expected), (value) => show(value) === show(expected));
}

export function oneOf(...values: readonly string[]): Check {
  return is(values.join(" or "), (value) => typeof value === "string" && values.includes(value));
}

export function orNull({ what, accepts }: Check): Check {
  return is(`${what} or null`, (value) => value === null || accepts(value));
}

/** Exactly these members, each of its type. */
export function expectMembers(value: Json | undefined, members: Members): string {
  hold(object.accepts(value), `${show(value)} and no object`);
  const names = Object.keys(value as object);
  const missing = Object.keys(members).filter((name) => !names.includes(name));
  const further = names.filter((name) => !(name in members));
  const wrong = Object.entries(members).flatMap(([name, { what, accepts }]) => {
    const member = memberOf(value, name);
    return missing.includes(name) || accepts(member) ? [] : [`${name} is ${show(member)} and not ${what}`];
  });
  const found = [
    ...missing.map((name) => `no ${name}`),
    ...further.map((name) => `${name} is not documented`),
    ...wrong,
  ];
  hold(found.length === 0, found.join("; "));
  return `these ${names.length} members`;
}

export function expectItems(value: Json | undefined, members: Members): string {
  const items = itemsOf(value);
  hold(items.length > 0, "no items");
  for (const item of items) expectMembers(item, members);
  return `${items.length} item${items.length === 1 ? "" : "s"} with ${Object.keys(members).length} members`;
}

export function itemsOf(value: Json | undefined): readonly Json[] {
  hold(Array.isArray(value), `${show(value)} and no array`);
  return value as readonly Json[];
}

/** A member, which has to be there. */
export function valueOf(value: Json | undefined, name: string): Json {
  const member = memberOf(value, name);
  hold(member !== undefined, `no ${name} in ${show(value)}`);
  return member as Json;
}

export function textOf(value: Json | undefined, name: string): string {
  const member = valueOf(value, name);
  if (typeof member === "string") return member;
  hold(typeof member === "bigint" || typeof member === "number", `${name} is ${show(member)}`);
  return `${member as bigint | number}`;
}

/** Cents of a number or a decimal as text. */
export function centsOf(value: Json | undefined, name: string): number {
  return Math.round(Number(textOf(value, name)) * 100);
}

export function shown({ status, code }: Answer): string {
  return code === "" ? `${status}` : `${status} ${code}`;
}

/** Every one is a success. */
export function expectOk(...answers: readonly Answer[]): string {
  return expectStatus(200, ...answers);
}

export function expectStatus(status: number, ...answers: readonly Answer[]): string {
  const observed = answers.map(shown).join(", ");
  hold(
    answers.every((answer) => answer.status === status),
    observed,
  );
  return observed;
}

/** Every one says that the request or the state is wrong: 401, 403 and 429 would be about the key. */
export function expectRefused(...answers: readonly Answer[]): string {
  const observed = answers.map(shown).join(", ");
  hold(
    answers.every(({ status }) => [400, 404, 409, 422].includes(status)),
    observed,
  );
  return observed;
}

export function show(value: Json | undefined): string {
  const written = JSON.stringify(value, (_, member: unknown) => (typeof member === "bigint" ? Number(member) : member));
  return (written ?? "nothing").slice(0, 120);
}
