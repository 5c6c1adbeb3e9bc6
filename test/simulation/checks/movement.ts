/** Ends the key of a request, or precedes the name of its transfer, that a client sends again as a new one. */
export const AGAIN = ":again";

/** What a client or service wants to move once, whatever the key under which it is requested. */
export function movementOf(key: string): string {
  return key.replace(AGAIN, "");
}

/** Whether a saga has requested this key: its own, or that of one of its other transfers. */
export function isUnder(saga: string, key: string): boolean {
  return key === saga || key.startsWith(`${saga}:`);
}

/** Under which a withdrawal is paid out, by the id of its operation. */
export function payoutKey(operationId: string): string {
  return `withdrawal:${operationId}`;
}
