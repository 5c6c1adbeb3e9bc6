/** A page of 500 feed entries of the largest size fits. */
export const MAX_MESSAGE_BYTES = 40 * 1_048_576;
