import { formatAmount, formatRatio, positionOf, ratioOf, SHARE_DECIMALS } from "../../formats/decimal.ts";

export type StackPart = {
  readonly id: string;
  readonly title: string;
  readonly amount: string;
  /** Parts of one shade belong together; `spared` ones are hatched. */
  readonly shade: number | "rest" | "spared";
  readonly href?: string;
};

type Props = { readonly title: string; readonly parts: readonly StackPart[]; readonly whole: string };

export const SHADES = 6;

/** What a whole is made of: a bar to look at, and the same as a list. Parts below zero have no place on the bar. */
export function Stack({ title, parts, whole }: Props) {
  const places = parts.flatMap((part) => {
    const width = positionOf(part.amount) ?? 0;
    return width > 0 ? [{ ...part, width }] : [];
  });
  return (
    <div class="stack">
      <div class="bar-of-parts" role="img" aria-label={`${title}: ${parts.map(sentenceOf).join(", ")}`}>
        {places.map(({ id, title: name, amount, shade, width }) => (
          <span
            key={id}
            class={`shade-${shade}`}
            style={{ flexGrow: width }}
            title={`${name}: ${formatAmount(amount)}`}
          />
        ))}
      </div>
      <ul class="plain parts-list">
        {parts.map(({ id, title: name, amount, shade, href }) => (
          <li key={id}>
            <span class={`key shade-${shade}`} aria-hidden="true" />
            {href === undefined ? name : <a href={href}>{name}</a>} <strong>{formatAmount(amount)}</strong>{" "}
            <span class="quiet">{shareText(amount, whole)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function sentenceOf({ title, amount }: StackPart): string {
  return `${title} ${formatAmount(amount)}`;
}

function shareText(amount: string, whole: string): string {
  const ratio = ratioOf(amount, whole);
  return ratio === undefined ? "" : formatRatio(ratio, SHARE_DECIMALS);
}
