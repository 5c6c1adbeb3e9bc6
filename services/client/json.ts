import { formOf, type NumberForm } from "./numbers.ts";

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const IS_TEXT = "t";
const IS_NUMBER = "n";
const DECIMAL = /^-?\d+(\.\d+)?$/;

/** Throws a SyntaxError unless the text is JSON. */
export function readJson(text: string, form: NumberForm | undefined): unknown {
  // A valid text has digits only in numbers and strings.
  JSON.parse(text);
  // JSON.parse of Node 20 does not show the digits of a number, so all numbers are read as marked text.
  const marked = text.replaceAll(TOKEN, (token) =>
    token.startsWith('"') ? `"${IS_TEXT}${token.slice(1)}` : `"${IS_NUMBER}${token}"`,
  );
  return unmarked(JSON.parse(marked), form);
}

function unmarked(value: unknown, form: NumberForm | undefined): unknown {
  if (typeof value === "string") return value.startsWith(IS_NUMBER) ? numberOf(value.slice(1), form) : value.slice(1);
  if (Array.isArray(value)) return value.map((element) => unmarked(element, form));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]): [string, unknown] => {
    const own = name.slice(1);
    return [own, unmarked(member, formOf(form, own))];
  });
  return Object.fromEntries(members);
}

function numberOf(digits: string, form: NumberForm | undefined): bigint | number | string {
  if (form === "int64") return BigInt(digits);
  if (form === "decimal") return digits;
  const value = Number(digits);
  // A member that this version does not know loses no digit either.
  return /^-?\d+$/.test(digits) && !Number.isSafeInteger(value) ? BigInt(digits) : value;
}

/** Decimals are text in the types of this package and numbers in the body. */
export function writeJson(value: unknown, form: NumberForm | undefined): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string" && form === "decimal") {
    if (!DECIMAL.test(value)) throw new TypeError(`"${value}" is not a decimal number`);
    return value;
  }
  if (Array.isArray(value)) return `[${value.map((element) => writeJson(element, form)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const written = members.map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member, formOf(form, name))}`);
  return `{${written.join(",")}}`;
}
