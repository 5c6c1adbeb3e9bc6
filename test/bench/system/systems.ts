import { type LargeSystem, startLargeSystem } from "../large/large-system.ts";
import { startSystem, type System } from "./start-system.ts";

/**
 * Starts the service for each workload, so that none finds the data of another; or once for all when speed is all that counts.
 * The large one is loaded once for all workloads that need it.
 */
export class Systems implements AsyncDisposable {
  readonly #isQuick: boolean;
  #current: Promise<System> | undefined;
  #large: Promise<LargeSystem> | undefined;

  constructor({ isQuick }: { readonly isQuick: boolean }) {
    this.#isQuick = isQuick;
  }

  readonly get = (): Promise<System> => {
    this.#current ??= startSystem();
    return this.#current;
  };

  readonly getLarge = (): Promise<LargeSystem> => {
    this.#large ??= startLargeSystem({ isQuick: this.#isQuick });
    return this.#large;
  };

  /** After each workload. */
  async release({ keepsLarge }: { readonly keepsLarge: boolean }): Promise<void> {
    if (!keepsLarge) await this.#releaseLarge();
    if (!this.#isQuick) await this.#releaseCurrent();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#releaseLarge(), this.#releaseCurrent()]);
  }

  async #releaseCurrent(): Promise<void> {
    const system = await this.#current?.catch(() => undefined);
    this.#current = undefined;
    await system?.[Symbol.asyncDispose]();
  }

  async #releaseLarge(): Promise<void> {
    const large = await this.#large?.catch(() => undefined);
    this.#large = undefined;
    await large?.[Symbol.asyncDispose]();
  }
}
