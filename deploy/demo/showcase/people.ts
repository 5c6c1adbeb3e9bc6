import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keyIn, keys } from "../keys.ts";

/** The two who decide a review: each has a key in the own name. */
export type People = { readonly alice: string; readonly bob: string };

const SCOPES = "ops,masters:read,investors:read,subscriptions:read,fees:read,events";

/** Their keys are kept beside the data, which is that of a simulator. Undefined before the showcase was played to its end. */
export function findPeople(stateDir: string): People | undefined {
  const file = fileOf(stateDir);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as People) : undefined;
}

export async function createPeople(stateDir: string): Promise<People> {
  const [alice, bob] = await Promise.all([createKey(stateDir, "alice"), createKey(stateDir, "bob")]);
  return { alice, bob };
}

/** Says with it that the showcase was played to its end. */
export function keepPeople(stateDir: string, people: People): void {
  writeFileSync(fileOf(stateDir), `${JSON.stringify(people)}\n`, { mode: 0o600 });
}

async function createKey(stateDir: string, name: string): Promise<string> {
  return keyIn(await keys(stateDir, "create", "--name", name, "--scopes", SCOPES));
}

function fileOf(stateDir: string): string {
  return join(stateDir, "people.json");
}
