import type { ComponentChildren } from "preact";
import { fromMinor } from "../../client/index.ts";
import { sentence } from "../formats/words.ts";
import { InvestorLink, MasterLink } from "./links.tsx";
import { Money } from "./money.tsx";

const LOGIN = /^[1-9]\d{0,18}$/;

/** Known facts as the service recorded them; their names depend on the case. */
export function Evidence({ evidence }: { readonly evidence: Readonly<Record<string, unknown>> }) {
  const rows = rowsOf(evidence, "");
  if (rows.length === 0) return <p class="quiet">Nothing beside the facts above.</p>;
  return (
    <dl class="evidence">
      {rows.map(({ path, name, value }) => (
        <div key={path}>
          <dt>{sentence(path.replace(/_minor$/, ""))}</dt>
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
  const text = typeof value === "string" ? value : typeof value === "bigint" ? value.toString() : JSON.stringify(value);
  if (name.endsWith("_minor") && /^-?\d+$/.test(text)) return <Money amount={fromMinor(BigInt(text))} />;
  if (/^master(?:_login)?$/.test(name) && LOGIN.test(text)) return <MasterLink id={text} />;
  if (/^(?:investor(?:_login)?|login)$/.test(name) && LOGIN.test(text)) return <InvestorLink id={text} />;
  return /^-?\d+\.\d{2}$/.test(text) ? <Money amount={text} /> : text;
}
