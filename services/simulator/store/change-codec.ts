import { crc32 } from "node:zlib";
import type { Change } from "../domain/change.ts";

/** JSON has no bigint: these members are written as text and read back. */
const ACCOUNT_BIGINTS = ["balance", "credit"] as const;
const QUOTE_BIGINTS = ["bid", "ask"] as const;
const POSITION_BIGINTS = ["volume", "priceOpen"] as const;
const DEAL_BIGINTS = ["price", "pricePosition", "volume", "volumeClosed", "profit", "storage", "commission"] as const;

const CHECKSUM_LENGTH = 8;

/** One line: checksum, space, JSON. The checksum distinguishes a torn line from a complete one. */
export function encodeChange(change: Change): string {
  const json = JSON.stringify(mapped(change, asText));
  return `${checksum(json)} ${json}\n`;
}

/** Undefined when encodeChange did not write the line. */
export function decodeChange(line: string): Change | undefined {
  const json = line.slice(CHECKSUM_LENGTH + 1);
  if (json === "" || line.slice(0, CHECKSUM_LENGTH) !== checksum(json)) return undefined;
  // The checksum proves the shape: only encodeChange writes such lines.
  return mapped(JSON.parse(json) as Change, asBigint) as Change;
}

/** The change with its bigint members converted; by name and not by a reviver, which would cost seconds at start. */
function mapped(change: Change, convert: Convert): unknown {
  switch (change.kind) {
    case "account":
      return { ...change, account: converted(change.account, ACCOUNT_BIGINTS, convert) };
    case "deals":
      return { ...change, deals: change.deals.map((deal) => converted(deal, DEAL_BIGINTS, convert)) };
    case "history":
    case "deal_edited":
      return { ...change, deal: converted(change.deal, DEAL_BIGINTS, convert) };
    case "balance_fixed":
      return converted(change, ACCOUNT_BIGINTS, convert);
    case "quote":
      return { ...change, quote: converted(change.quote, QUOTE_BIGINTS, convert) };
    case "position":
      return { ...change, position: converted(change.position, POSITION_BIGINTS, convert) };
    case "account_removed":
    case "group":
    case "deal_removed":
    case "forgotten":
    case "session":
    case "counters":
      return change;
  }
}

type Convert = (value: unknown) => string | bigint;

const asText: Convert = (value) => String(value);
const asBigint: Convert = (value) => BigInt(String(value));

function converted(record: object, names: readonly string[], convert: Convert): object {
  const copy: Record<string, unknown> = { ...record };
  for (const name of names) copy[name] = convert(copy[name]);
  return copy;
}

function checksum(json: string): string {
  return crc32(json).toString(16).padStart(CHECKSUM_LENGTH, "0");
}
