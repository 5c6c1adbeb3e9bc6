import type { ComponentChildren } from "preact";
import { amountOfCents } from "../formats/money.ts";
import { words } from "../formats/words.ts";
import { Money } from "./money.tsx";

/** Known facts as the service recorded them; their names depend on the case. */
export function Evidence({ evidence }: { readonly evidence: Readonly<Record<string, unknown>> }) {
  const rows = rowsOf(evidence, "");
  if (rows.length === 0) return <p class="quiet">Nothing beside the facts above.</p>;
  return (
    <dl class="evidence">
      {rows.map(({ path, name, value }) => (
        <div key={path}>
          <dt>{words(path.replace(/_minor$/, ""))}</dt>
          <dd>{shown(name, value)}</dd>
        </div>
      ))}
    </dl>
  );
}

type Row = { readonly path: string; readonly name: string; readonly value: unknown };

function rowsOf(value: object, before: string): Row[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const path = before === "" ? name : `${before} › ${Array.isArray(value) ? Number(name) + 1 : name}`;
    const isNested = typeof member === "object" && member !== null && Object.keys(member).length > 0;
    return isNested ? rowsOf(member, path) : [{ path, name, value: member }];
  });
}

function shown(name: string, value: unknown): ComponentChildren {
  if (value === null || value === undefined || value === "") return <span class="none">–</span>;
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  if (name.endsWith("_minor") && /^-?\d+$/.test(text)) return <Money amount={amountOfCents(text)} />;
  return /^-?\d+\.\d{2}$/.test(text) ? <Money amount={text} /> : text;
}
