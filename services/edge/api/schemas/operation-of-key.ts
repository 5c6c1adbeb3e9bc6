const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";

/** A deposit, a withdrawal, and the fees and debts that a withdrawal collects. */
const KEYS = [
  `^(?:funding:deposit|withdrawal):(${UUID})$`,
  `^fee:\\d+:\\d+:WD(${UUID})$`,
  `^fee:\\d+:\\d+:DEBT:withdrawal:(${UUID})$`,
].map((pattern) => new RegExp(pattern));

/** The operation that the key of a transfer names; undefined for a transfer of no operation, such as a weekly fee. */
export function operationOfKey(key: string): string | undefined {
  return KEYS.map((pattern) => pattern.exec(key)?.[1]).find((id) => id !== undefined);
}
