import { inspect } from "node:util";

const MASK = "[secret]";

/** Holds a value that must never be written: JSON, template text, logs and inspection all print a mask. */
export class Secret<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** The only access to the value; call it where the value is used, never where it is passed on. */
  reveal(): T {
    return this.#value;
  }

  toJSON(): string {
    return MASK;
  }

  toString(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
