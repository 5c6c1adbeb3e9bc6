import type { ComponentChildren } from "preact";

/** Says what is not there, and what that means. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}
