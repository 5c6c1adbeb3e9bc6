const MIN_LENGTH = 8;
const MAX_LENGTH = 16;
const CLASSES = [/\p{Ll}/u, /\p{Lu}/u, /\p{Nd}/u, /[^\p{L}\p{Nd}\s]/u];

/** 8 to 16 characters with a lower case letter, an upper case letter, a digit and a special character. */
export function isStrongPassword(password: string): boolean {
  const isLongEnough = password.length >= MIN_LENGTH && password.length <= MAX_LENGTH;
  return isLongEnough && CLASSES.every((kind) => kind.test(password));
}

export const PASSWORD_MIN_LENGTH = MIN_LENGTH;
