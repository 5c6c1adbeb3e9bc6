import { signal } from "@preact/signals";

const EVERY_MS = 10_000;

/** The time by which ages are shown. */
export const now = signal(Date.now());

setInterval(() => (now.value = Date.now()), EVERY_MS);
