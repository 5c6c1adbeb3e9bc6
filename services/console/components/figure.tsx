import type { ComponentChildren } from "preact";
import type { Tone } from "./badge.tsx";

type Props = {
  readonly name: string;
  readonly value: ComponentChildren;
  /** What the figure is made of, or how old it is. */
  readonly note?: ComponentChildren;
  /** Where the figure comes from. */
  readonly href?: string;
  readonly tone?: Tone;
};

export function Figure({ name, value, note, href, tone = "quiet" }: Props) {
  return (
    <div class={`figure ${tone}`}>
      <dt>{href === undefined ? name : <a href={href}>{name}</a>}</dt>
      <dd>
        <span class="value">{value}</span>
        {note !== undefined && <span class="note">{note}</span>}
      </dd>
    </div>
  );
}
