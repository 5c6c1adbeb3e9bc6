import { computed, effect, signal } from "@preact/signals";

/** `auto` follows the system. It is kept for as long as the tab is open. */
export type Scheme = "auto" | "light" | "dark";
export const SCHEMES: readonly Scheme[] = ["auto", "light", "dark"];

export const scheme = signal<Scheme>("auto");

const system = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
const isSystemDark = signal(system?.matches ?? false);
system?.addEventListener("change", ({ matches }) => (isSystemDark.value = matches));

/** What is drawn. */
export const shownScheme = computed(() => {
  if (scheme.value !== "auto") return scheme.value;
  return isSystemDark.value ? "dark" : "light";
});

effect(() => {
  if (globalThis.document !== undefined) document.documentElement.dataset["scheme"] = shownScheme.value;
});
