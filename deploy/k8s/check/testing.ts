import { readFileSync } from "node:fs";
import { type Manifest, manifestsIn } from "./manifests.ts";

const SOUND = readFileSync(new URL("sound.yaml", import.meta.url), "utf8");

/** A system of one service on which no rule has anything to say. */
export function sound(): Manifest[] {
  return manifestsIn(SOUND);
}

/** The same with another value at a path below the manifest of a kind; undefined removes what is there. */
export function soundBut(kind: string, path: string, value: unknown, manifests = sound()): Manifest[] {
  const keys = path.split("/");
  const last = keys.pop() ?? "";
  const target = manifests.findLast((manifest) => manifest.kind === kind);
  const parent = keys.reduce<unknown>(
    (inside, key) => (inside as Record<string, unknown> | undefined)?.[key],
    target,
  ) as Record<string, unknown> | undefined;
  if (parent === undefined) throw new Error(`${kind} has no ${path}`);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return manifests;
}
