import { signal } from "@preact/signals";
import { type Client, createClient, type Models } from "../../client/index.ts";
import { endOfLog } from "../live/end-of-log.ts";
import { keyedFetch, NO_KEY } from "./keyed-fetch.ts";
import { createReadFile, type ReadFile } from "./read-file.ts";

export type Key = Models["ApiKey"];
export type Scope = Key["scopes"][number];

export type Session = {
  readonly client: Client;
  readonly key: Key;
  /** The id after which the event feed begins: what is read from now on is not older. Undefined without the scope. */
  readonly feedBegin: bigint | undefined;
  readonly readFile: ReadFile;
};

/** Its client and its reader of files send by the one closure that holds the API key. It ends with the tab. */
export const session = signal<Session | undefined>(undefined);

/** Why the last session ended; shown at the sign-in. */
export const endedBecause = signal<string | undefined>(undefined);

/** A page shows what it has after a few seconds rather than repeating for a minute. */
const TIMEOUT_MS = 20_000;

/** Throws what the client throws when the key is not accepted. */
export async function signIn(apiKey: string): Promise<void> {
  const fetch = keyedFetch(location.origin, apiKey);
  const client = createClient({
    baseUrl: location.origin,
    apiKey: NO_KEY,
    fetch,
    timeoutMs: TIMEOUT_MS,
    onAttempt: ({ status }) => {
      if (status === 401 && session.value?.client === client) signOut("The API key is not accepted any more.");
    },
  });
  const key = await client.query("getApiKey");
  const feedBegin = key.scopes.includes("events") ? await endOfLog(client).catch(() => undefined) : undefined;
  endedBecause.value = undefined;
  session.value = { client, key, feedBegin, readFile: createReadFile(location.origin, fetch) };
}

export function signOut(reason?: string): void {
  session.value = undefined;
  endedBecause.value = reason;
}

/** Whether the key has one of the scopes; any key will do when none is named. */
export function can(...anyOf: readonly Scope[]): boolean {
  const scopes = session.value?.key.scopes ?? [];
  return session.value !== undefined && (anyOf.length === 0 || anyOf.some((scope) => scopes.includes(scope)));
}

/** Reads and commands of a page: there is a session while a page is shown. */
export function clientOfSession(): Client {
  const current = session.peek();
  if (current === undefined) throw new Error("signed out");
  return current.client;
}

export function readFileOfSession(): ReadFile {
  const current = session.peek();
  if (current === undefined) throw new Error("signed out");
  return current.readFile;
}
