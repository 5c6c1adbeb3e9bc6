import { effect, signal } from "@preact/signals";

/** `auto` follows the system. It is kept for as long as the tab is open. */
export type Scheme = "auto" | "light" | "dark";
export const SCHEMES: readonly Scheme[] = ["auto", "light", "dark"];

export const scheme = signal<Scheme>("auto");

effect(() => {
  if (globalThis.document !== undefined) document.documentElement.dataset["scheme"] = scheme.value;
});
