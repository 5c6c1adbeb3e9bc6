const FIRST_INSTANT = Date.parse("0001-01-01T00:00:00Z");
const LAST_INSTANT = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Whether a decoded message contains nothing that its format allows and PostgreSQL cannot store: a NUL character in a
 * text, or an instant that is invalid or outside of the years 1 to 9999.
 */
export function isReadable(message: unknown): boolean {
  if (typeof message === "string") return !message.includes("\0");
  if (message instanceof Date) return message.getTime() >= FIRST_INSTANT && message.getTime() <= LAST_INSTANT;
  if (typeof message !== "object" || message === null || ArrayBuffer.isView(message)) return true;
  return Object.values(message).every(isReadable);
}
