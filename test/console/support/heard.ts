import type { BrowserPage } from "#test/support/chromium.ts";

/** What a screen reader is told about an element. */
export type Heard = { readonly role: string; readonly name: string; readonly level: number | undefined };

type Value = { readonly value?: unknown };
type Node = {
  readonly nodeId: string;
  readonly parentId?: string;
  readonly ignored: boolean;
  readonly role?: Value;
  readonly name?: Value;
  readonly properties?: readonly { readonly name: string; readonly value: Value }[];
};

/** The accessibility tree of a page, in the order in which it is read. */
export async function heardOn(page: BrowserPage): Promise<readonly Heard[]> {
  const { nodes } = (await page.call("Accessibility.getFullAXTree")) as { readonly nodes: readonly Node[] };
  return nodes
    .filter(({ ignored }) => !ignored)
    .map(({ role, name, properties = [] }) => ({
      role: String(role?.value ?? ""),
      name: String(name?.value ?? "").trim(),
      level: levelOf(properties),
    }));
}

function levelOf(properties: NonNullable<Node["properties"]>): number | undefined {
  const value = properties.find(({ name }) => name === "level")?.value.value;
  return value === undefined ? undefined : Number(value);
}

const NAMED = new Set([
  "button",
  "link",
  "heading",
  "table",
  "image",
  "img",
  "textbox",
  "searchbox",
  "combobox",
  "radio",
  "checkbox",
  "Date",
  "columnheader",
  "navigation",
  "region",
  "dialog",
  "group",
  "radiogroup",
  "spinbutton",
]);
/** Heard alone, these say nothing. */
const BARE = /^(?:here|more|link|table|copy|csv|show|ok|undefined|null|\[object.*|NaN)$/i;

/** Why a page makes no sense when it is heard; empty when it does. */
export function mistakesOf(heard: readonly Heard[]): readonly string[] {
  const mistakes = heard
    .filter(({ role, name }) => NAMED.has(role) && (name === "" || BARE.test(name)))
    .filter(({ role, name }) => !(role === "button" && /^show$/i.test(name)))
    .map(({ role, name }) => `${role} "${name}"`);
  const headings = heard.filter(({ role }) => role === "heading");
  const tops = headings.filter(({ level }) => level === 1);
  if (tops.length !== 1) mistakes.push(`${tops.length} headings of the first level`);
  let before = 0;
  for (const { name, level = 0 } of headings) {
    if (level > before + 1) mistakes.push(`heading "${name}" of level ${level} after one of level ${before}`);
    before = level;
  }
  const tables = heard.filter(({ role }) => role === "table").map(({ name }) => name);
  for (const name of new Set(tables)) {
    if (tables.filter((one) => one === name).length > 1) mistakes.push(`two tables "${name}"`);
  }
  return mistakes;
}
