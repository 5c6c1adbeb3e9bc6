import { startSystem, type System } from "./start-system.ts";

/** Starts the service for each workload, so that none finds the data of another; or once for all when speed is all that counts. */
export class Systems implements AsyncDisposable {
  readonly #isShared: boolean;
  #current: Promise<System> | undefined;

  constructor({ isShared }: { readonly isShared: boolean }) {
    this.#isShared = isShared;
  }

  readonly get = (): Promise<System> => {
    this.#current ??= startSystem();
    return this.#current;
  };

  /** After each workload. */
  async release(): Promise<void> {
    if (!this.#isShared) await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const system = await this.#current;
    this.#current = undefined;
    await system?.[Symbol.asyncDispose]();
  }
}
