import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

type Props = {
  readonly title: ComponentChildren;
  /** Where a link within the page leads to. */
  readonly id?: string;
  readonly children?: ComponentChildren;
};

/** A part of a page under its heading. */
export function Section({ title, id, children }: Props) {
  const heading = useId();
  return (
    <section id={id} aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      {children}
    </section>
  );
}
