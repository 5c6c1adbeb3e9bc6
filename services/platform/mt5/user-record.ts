import type { CommandOutcome } from "./classify.ts";
import type { Fields } from "./fields.ts";

/** Done when the platform shows the change. */
export type ChangeOutcome = { readonly kind: "done" } | Exclude<CommandOutcome, { readonly kind: "done" }>;

/** Fields that always have a value: any other value after an update is a change. */
export const REQUIRED = ["Group", "Leverage"];
/** Fields that a server that replaces the whole record would empty. */
export const TEXT_NAMES = (
  "Name FirstName LastName MiddleName Company Account Country City State ZipCode Address Phone Email ID Status Comment " +
  "MQID LeadSource LeadCampaign Language Color Agent LimitOrders LimitPositions"
).split(" ");

/** Those of the fields that an update has cleared or changed. A text that another manager has changed meanwhile was not cleared. */
export function clearedFields(before: Fields, after: Fields, names: readonly string[] = TEXT_NAMES): string[] {
  const changed = REQUIRED.filter((name) => textOf(before, name) !== textOf(after, name));
  const emptied = names.filter((name) => !isEmpty(textOf(before, name)) && isEmpty(textOf(after, name)));
  return [...changed, ...emptied];
}

/** The fields with a value, as an update sends them. */
export function filledFields(record: Fields, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => [name, textOf(record, name)] as const).filter(([, text]) => !isEmpty(text)),
  );
}

export function textOf(fields: Fields, name: string): string {
  return fields.optionalText(name) ?? "";
}

export function isEmpty(text: string): boolean {
  return text === "" || /^0+(?:\.0+)?$/.test(text);
}
