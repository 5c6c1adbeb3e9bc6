import { isImported } from "./imported-transfers.ts";

/** The postings of an Investor's account, of which one at most is in flight. */
export type Postings = {
  /** Number of the last one: 1, 2, 3 ...; 0 before the first. */
  readonly number: bigint;
  /** Signed cents that it was requested for; undefined unless it is in flight. */
  readonly inFlight: bigint | undefined;
};

type PostingId = { readonly login: string; readonly number: bigint };

const KEY = /^posting:([^:]+):([1-9]\d{0,17})$/;

/** Key of its transfer. */
export function postingKey({ login, number }: PostingId): string {
  return `posting:${login}:${number}`;
}

/** The posting that a key names; undefined for the key of another transfer. */
export function readPostingKey(key: string): PostingId | undefined {
  const [, login, number] = KEY.exec(key) ?? [];
  return login === undefined || number === undefined ? undefined : { login, number: BigInt(number) };
}

export type FiledResult = {
  readonly postings: Postings;
  /** Number of the posting that this service has not requested so. */
  readonly unrequested: bigint | undefined;
};

/**
 * Files a result on an Investor's account. A result of a later posting than the one in flight ends that one too: platform records none before the
 * earlier one has ended. Its number is used, so no other posting gets it.
 */
export function fileResult(
  postings: Postings,
  { login, key, amount }: { readonly login: string; readonly key: string; readonly amount: bigint },
): FiledResult {
  const posting = readPostingKey(key);
  // One that names another account is found by the check of platform.
  if (posting?.login !== login) {
    return { postings: isImported({ key }) ? afterLost(postings) : postings, unrequested: undefined };
  }
  const { number } = posting;
  const isRequested = number === postings.number && isPartOf(postings.inFlight, amount);
  const ends = number >= postings.number;
  return { postings: ends ? { number, inFlight: undefined } : postings, unrequested: isRequested ? undefined : number };
}

/** A lost posting has used a number, which no other one gets. The number of one in flight is that of its transfer, and stays. */
function afterLost(postings: Postings): Postings {
  return postings.inFlight === undefined ? { ...postings, number: postings.number + 1n } : postings;
}

/** A loss debits at most the balance; a gain is credited whole. */
function isPartOf(requested: bigint | undefined, amount: bigint): boolean {
  return requested !== undefined && (requested < 0n ? requested <= amount && amount < 0n : amount === requested);
}
