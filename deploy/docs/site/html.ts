/** Text that is HTML already. */
export type Html = { readonly html: string };

type Value = string | number | Html | readonly Html[];

/** A template whose values are escaped unless they are HTML. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  const texts = parts.map((part, index) => part + (index < values.length ? textOf(values[index] ?? "") : ""));
  return { html: texts.join("") };
}

export function trusted(text: string): Html {
  return { html: text };
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

function textOf(value: Value): string {
  if (typeof value === "string" || typeof value === "number") return escapeHtml(String(value));
  if ("html" in value) return value.html;
  return value.map((part) => part.html).join("");
}
