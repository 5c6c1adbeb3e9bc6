/** Services build the keys from names and ids, which are far shorter. The keys are part of indexes. */
export const MAX_KEY_LENGTH = 200;

const KEY = /^[\x21-\x7e]+$/;

/** Whether a text may be the key of a request, or the owner of an account lock. */
export function isRequestKey(text: string): boolean {
  return text.length <= MAX_KEY_LENGTH && KEY.test(text);
}
