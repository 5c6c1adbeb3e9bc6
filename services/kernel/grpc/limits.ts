/** A page of 500 feed entries at their largest fits. */
export const MAX_MESSAGE_BYTES = 40 * 1_048_576;
