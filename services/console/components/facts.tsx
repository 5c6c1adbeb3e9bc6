import type { ComponentChildren } from "preact";

export type Fact = readonly [name: string, value: ComponentChildren];

/** Names and values, one below the other. */
export function Facts({ facts }: { readonly facts: readonly (Fact | false)[] }) {
  return (
    <dl class="facts">
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
