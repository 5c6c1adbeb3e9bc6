import { createHash } from "node:crypto";

const TAG = /^PAMM [0-9a-f]{32}$/;

/** The comment of an account that this service creates: always the same for a key, and not to be confused with that of a dealer. */
export function tagOf(key: string): string {
  return `PAMM ${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
}

type Range = { readonly first: bigint; readonly last: bigint };

/** Whether an account with this login and comment was created by this service; another installation has another range of logins. */
export function isOwnAccount({ login, comment }: { login: string; comment: string }, { first, last }: Range): boolean {
  return TAG.test(comment) && BigInt(login) >= first && BigInt(login) <= last;
}
