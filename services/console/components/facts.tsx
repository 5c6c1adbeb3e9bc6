import type { ComponentChildren } from "preact";

export type Fact = readonly [name: string, value: ComponentChildren];

type Props = { readonly facts: readonly (Fact | false)[]; readonly isStrip?: boolean };

/** Names and values, one below the other or, as a strip, side by side. */
export function Facts({ facts, isStrip = false }: Props) {
  return (
    <dl class={isStrip ? "facts strip" : "facts"}>
      {facts
        .filter((fact) => fact !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
