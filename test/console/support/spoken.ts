import type { BrowserPage } from "#test/support/chromium.ts";

/** What a screen reader receives of an element. */
export type Spoken = { readonly role: string; readonly name: string; readonly level: number | undefined };

type Value = { readonly value?: string | number | boolean };
type Node = {
  readonly nodeId: string;
  readonly parentId?: string;
  readonly ignored: boolean;
  readonly role?: Value;
  readonly name?: Value;
  readonly properties?: readonly { readonly name: string; readonly value: Value }[];
};

/** The accessibility tree of a page, in the order in which it is read. */
export async function spokenOn(page: BrowserPage): Promise<readonly Spoken[]> {
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
/** Spoken alone, these say nothing. */
const BARE = /^(?:here|more|link|table|copy|csv|show|ok|undefined|null|\[object.*|NaN)$/i;

/** Why a page makes no sense when it is spoken; empty when it does. */
export function mistakesOf(spoken: readonly Spoken[]): readonly string[] {
  const mistakes = spoken
    .filter(({ role, name }) => NAMED.has(role) && (name === "" || BARE.test(name)))
    .filter(({ role, name }) => !(role === "button" && /^show$/i.test(name)))
    .map(({ role, name }) => `${role} "${name}"`);
  const headings = spoken.filter(({ role }) => role === "heading");
  const tops = headings.filter(({ level }) => level === 1);
  if (tops.length !== 1) mistakes.push(`${tops.length} headings of the first level`);
  let before = 0;
  for (const { name, level = 0 } of headings) {
    if (level > before + 1) mistakes.push(`heading "${name}" of level ${level} after one of level ${before}`);
    before = level;
  }
  const tables = spoken.filter(({ role }) => role === "table").map(({ name }) => name);
  for (const name of new Set(tables)) {
    if (tables.filter((one) => one === name).length > 1) mistakes.push(`two tables "${name}"`);
  }
  return mistakes;
}
