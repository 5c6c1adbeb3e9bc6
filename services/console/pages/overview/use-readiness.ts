import { type Read, useRead } from "../../data/use-read.ts";

export type Reached = { readonly reachable: boolean; readonly lag_ms: number | null };
export type Readiness = {
  readonly status: string;
  readonly broker: { readonly reachable: boolean };
  readonly services: Readonly<Record<string, Reached>>;
  readonly platform: Reached;
};

const EVERY_MS = 15_000;

/** Whether each part answers. */
export function useReadiness(): Read<Readiness> {
  return useRead(readReadiness, { keys: [], everyMs: EVERY_MS });
}

/** It needs no key, so the client does not have it. 503 has the same body. */
async function readReadiness(_client: unknown, signal: AbortSignal): Promise<Readiness> {
  const response = await fetch("/readyz", { signal, credentials: "omit" });
  return (await response.json()) as Readiness;
}
